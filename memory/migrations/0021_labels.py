"""Kinds, states and authors have the labels that pages use; the database stays as it is."""

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
STATES = [
    ("proposed", "Proposed"),
    ("active", "Active"),
    ("superseded", "Replaced"),
    ("rejected", "Rejected"),
    ("expired", "Expired"),
    ("archived", "Archived"),
]
AUTHORS = [("user", "You"), ("librarian", "Recall"), ("import", "An import"), ("sync", "Synchronized")]


class Migration(migrations.Migration):
    dependencies = [("memory", "0020_plain_boundary")]
    operations = [
        migrations.AlterField("fact", "kind", models.CharField(choices=KINDS, default="fact", max_length=16)),
        migrations.AlterField("fact", "status", models.CharField(choices=STATES, default="proposed", max_length=12)),
        migrations.AlterField("revision", "author", models.CharField(choices=AUTHORS, default="user", max_length=10)),
    ]
