"""PostgreSQL empties unlogged tables after a crash: the last backup would have been forgotten."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("recall", "0004_cache")]
    operations = [
        migrations.RunSQL("ALTER TABLE recall_heartbeat SET LOGGED", "ALTER TABLE recall_heartbeat SET UNLOGGED"),
    ]
