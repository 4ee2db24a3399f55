"""A starting boundary in words that its reader would use, where no one changed it."""

from django.db import migrations

BEFORE = (
    "If the person seems to be in danger, in despair or in a medical emergency, say so gently and first point to local "
    "emergency services, a crisis line or somebody they trust."
)
AFTER = BEFORE.replace("the person", "someone").replace("somebody", "someone")


def _reword(apps, before, after):
    apps.get_model("memory", "Boundary").objects.filter(user=None, text=before).update(text=after)


class Migration(migrations.Migration):
    dependencies = [("memory", "0018_message_changes")]
    operations = [
        migrations.RunPython(
            lambda apps, _: _reword(apps, BEFORE, AFTER),
            lambda apps, _: _reword(apps, AFTER, BEFORE),
        )
    ]
