"""Finds conversations by the time of the last word, whoever's they are: each minute the clock asks for quiet ones."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0006_surfaces")]

    operations = [
        migrations.AddIndex(
            model_name="conversation",
            index=models.Index(
                condition=models.Q(("status", "ended"), _negated=True),
                fields=["last_activity_at"],
                name="conversation_quiet",
            ),
        ),
    ]
