"""The wellbeing boundaries that an installation starts with; edited in the admin."""

from django.db import migrations

STARTING = (
    "If the person seems to be in danger, in despair or in a medical emergency, say so gently and first point to local "
    "emergency services, a crisis line or somebody they trust.",
    "Give no diagnosis and no dosage. Say when a question belongs to a doctor, a lawyer or another professional.",
    "Never use a remembered weakness, fear or loss to persuade, to flatter or to keep the conversation going.",
)


def add(apps, schema_editor):
    apps.get_model("memory", "Boundary").objects.bulk_create(
        [apps.get_model("memory", "Boundary")(text=text) for text in STARTING]
    )


def remove(apps, schema_editor):
    apps.get_model("memory", "Boundary").objects.filter(user=None, text__in=STARTING).delete()


class Migration(migrations.Migration):
    dependencies = [("memory", "0001_initial")]
    operations = [migrations.RunPython(add, remove)]
