"""Mark the passages of messages that are no memory, such as bare questions; answers by what their rows say."""

from django.db import migrations, models

from memory.text.message_kinds import NOT_KNOWN, UNFINISHED, admits_not_knowing, kind_of_request

MARK_UNFINISHED = """
    UPDATE memory_chunk AS chunk SET omit = %s FROM chat_message AS message
    WHERE message.id = chunk.message_id AND message.role = 'assistant' AND message.status <> 'complete'
"""
ROWS_AT_ONCE = 2_000


def mark_messages(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(MARK_UNFINISHED, [UNFINISHED])
    chunks = apps.get_model("memory", "Chunk")._base_manager.using(schema_editor.connection.alias)
    rows = chunks.filter(kind="message", author="", omit="").order_by("pk").only("own_words", "message__text")
    for chunk in rows.select_related("message").iterator(ROWS_AT_ONCE):
        text = chunk.message.text
        rule = kind_of_request(text) if chunk.own_words else NOT_KNOWN if admits_not_knowing(text) else ""
        if rule:
            chunks.filter(pk=chunk.pk).update(omit=rule)


class Migration(migrations.Migration):
    dependencies = [("memory", "0014_subject_keys"), ("chat", "0001_squashed_0008_few_words_waiting")]

    operations = [
        migrations.AddField(
            "chunk",
            "omit",
            models.CharField(blank=True, help_text="Rule that keeps it out of recall; empty: none", max_length=24),
        ),
        migrations.RunPython(mark_messages, migrations.RunPython.noop),
    ]
