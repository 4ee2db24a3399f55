import django.contrib.postgres.indexes
from django.db import migrations

# As memory/migrations/0012: every search reads the list of new words to its end.
SHORT_LIST = """
ALTER INDEX message_words SET (gin_pending_list_limit = 64);
SELECT gin_clean_pending_list('message_words');
"""


class Migration(migrations.Migration):
    dependencies = [
        ("chat", "0007_quiet_conversations"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(SHORT_LIST, "ALTER INDEX message_words RESET (gin_pending_list_limit)")
            ],
            state_operations=[
                migrations.RemoveIndex(model_name="message", name="message_words"),
                migrations.AddIndex(
                    model_name="message",
                    index=django.contrib.postgres.indexes.GinIndex(
                        fields=["user", "search"], gin_pending_list_limit=64, name="message_words"
                    ),
                ),
            ],
        ),
    ]
