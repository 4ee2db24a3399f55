from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0004_api_rate"),
    ]

    operations = [
        migrations.AddField(
            model_name="user",
            name="relationship_stage",
            field=models.CharField(
                blank=True,
                choices=[
                    ("NEW", "New to each other"),
                    ("DEVELOPING", "Getting to know each other"),
                    ("COMFORTABLE", "Comfortable"),
                    ("TRUSTED", "Trusted"),
                ],
                default="",
                help_text="As the person set it; empty: it grows by itself",
                max_length=11,
            ),
            preserve_default=False,
        ),
    ]
