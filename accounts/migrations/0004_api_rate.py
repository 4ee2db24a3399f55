import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0003_surfaces"),
    ]

    operations = [
        migrations.CreateModel(
            name="ApiRate",
            fields=[
                (
                    "holder",
                    models.CharField(
                        help_text="Such as key:12 or user:3", max_length=40, primary_key=True, serialize=False
                    ),
                ),
                ("tokens", models.FloatField(help_text="Left in the bucket at that moment")),
                ("at", models.DateTimeField()),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
        ),
        # Written with each request, and worth nothing after a crash.
        migrations.RunSQL("ALTER TABLE accounts_apirate SET UNLOGGED", "ALTER TABLE accounts_apirate SET LOGGED"),
    ]
