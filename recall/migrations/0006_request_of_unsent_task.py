"""The id of the request that queued a task."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("recall", "0005_heartbeats_outlive_a_crash")]
    operations = [
        migrations.RunSQL(
            "ALTER TABLE recall_unsent_task ADD COLUMN request text NOT NULL DEFAULT ''",
            "ALTER TABLE recall_unsent_task DROP COLUMN request",
        ),
    ]
