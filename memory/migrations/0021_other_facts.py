"""The kind of fact that no other kind fits is called so; the database stays as it is."""

from django.db import migrations, models

KINDS = [
    ("identity", "Identity"),
    ("biography", "Biography"),
    ("person", "Person"),
    ("place", "Place"),
    ("event", "Event"),
    ("preference", "Preference"),
    ("constraint", "Things to avoid"),
    ("instruction", "Instruction"),
    ("goal", "Goal"),
    ("decision", "Decision"),
    ("procedure", "How you do it"),
    ("entity", "Pets and things"),
    ("fact", "Other"),
]


class Migration(migrations.Migration):
    dependencies = [("memory", "0020_plain_boundary")]
    operations = [
        migrations.AlterField("fact", "kind", models.CharField(choices=KINDS, default="fact", max_length=16)),
    ]
