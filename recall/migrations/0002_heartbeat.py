"""Signs of life of workers and clocks: read by readiness and by the containers' health checks."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("recall", "0001_extensions")]
    operations = [
        migrations.RunSQL(
            "CREATE UNLOGGED TABLE recall_heartbeat (name text PRIMARY KEY, seen_at timestamptz NOT NULL)",
            "DROP TABLE recall_heartbeat",
        ),
    ]
