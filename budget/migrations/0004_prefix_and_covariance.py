from django.db import migrations, models


class Migration(migrations.Migration):
    """What the last request shares with the next one, and how sure the learned ratios are."""

    dependencies = [("budget", "0003_plans_limits_and_usage")]

    operations = [
        migrations.AddField(
            model_name="receipt",
            name="prefix",
            field=models.JSONField(
                default=dict,
                help_text="Parts the next request may share, and their tokens: budget/counting/cached_prefix.py",
            ),
        ),
        migrations.AddField(
            model_name="calibration",
            name="covariance",
            field=models.JSONField(default=dict, help_text="Of this ratio with those of all classes: class → value"),
        ),
    ]
