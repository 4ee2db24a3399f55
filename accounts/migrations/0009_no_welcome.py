"""The empty chat no longer has a text to close."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("accounts", "0008_declined_offers")]

    operations = [migrations.RemoveField(model_name="user", name="welcomed_at")]
