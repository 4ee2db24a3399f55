"""The cache's table: failed sign-ins and used second-factor codes, counted once for all processes."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("recall", "0003_unsent_task")]
    operations = [
        migrations.RunSQL(
            "CREATE UNLOGGED TABLE recall_cache"
            " (cache_key varchar(255) PRIMARY KEY, value text NOT NULL, expires timestamptz NOT NULL);"
            " CREATE INDEX recall_cache_expires ON recall_cache (expires)",
            "DROP TABLE recall_cache",
        ),
    ]
