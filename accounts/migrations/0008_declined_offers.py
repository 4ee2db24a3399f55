"""Names and time zones heard in a chat that the user didn't want in the account."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_squashed_0006_language")]

    operations = [
        migrations.AddField(
            model_name="user",
            name="declined_offers",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=32),
                blank=True,
                default=list,
                help_text="Digests of names and time zones, said in a chat, that aren't to be stored here",
            ),
        ),
    ]
