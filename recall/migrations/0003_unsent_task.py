"""Tasks that could not be queued while the broker was away."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("recall", "0002_heartbeat")]
    operations = [
        migrations.RunSQL(
            "CREATE TABLE recall_unsent_task (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL,"
            " args jsonb NOT NULL, UNIQUE (name, args))",
            "DROP TABLE recall_unsent_task",
        ),
    ]
