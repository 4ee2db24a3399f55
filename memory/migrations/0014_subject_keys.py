"""Give each key its subject: `home` becomes `user/home`. One active fact per (user, key), whatever its kind.

The keys inside review decisions, which undo restores, are rewritten too. Where two active facts of different kinds had
one key, the newer one keeps it; the other stays active without a key.
"""

from django.db import migrations, models

FORWARD = """
    UPDATE memory_fact SET key = 'user/' || key WHERE key <> '' AND position('/' in key) = 0;
    UPDATE memory_reviewaction AS action SET before = rewritten.before
    FROM (
        SELECT id, jsonb_object_agg(fact, CASE
            WHEN columns ->> 'key' <> '' AND position('/' in columns ->> 'key') = 0
            THEN jsonb_set(columns, '{key}', to_jsonb('user/' || (columns ->> 'key')))
            ELSE columns END) AS before
        FROM memory_reviewaction, jsonb_each(before) AS changed (fact, columns)
        WHERE before::text LIKE '%"key"%' GROUP BY id
    ) AS rewritten
    WHERE action.id = rewritten.id;
    UPDATE memory_fact AS older SET key = ''
    WHERE older.status = 'active' AND older.key <> '' AND EXISTS (
        SELECT FROM memory_fact AS newer WHERE newer.user_id = older.user_id AND newer.key = older.key
        AND newer.status = 'active' AND newer.id > older.id);
"""
BACKWARD = """
    UPDATE memory_fact SET key = CASE WHEN key LIKE 'user/%/%' OR key NOT LIKE 'user/%' THEN '' ELSE substr(key, 6) END
    WHERE key <> '';
"""


class Migration(migrations.Migration):
    dependencies = [("memory", "0001_squashed_0012_words_of_one_person")]

    operations = [
        migrations.RemoveConstraint("fact", "one_active_fact_a_key"),
        migrations.RunSQL(FORWARD, BACKWARD),
        migrations.RunSQL("SET CONSTRAINTS ALL IMMEDIATE", migrations.RunSQL.noop),
        migrations.AddConstraint(
            "fact",
            models.UniqueConstraint(
                fields=["user", "key"],
                condition=models.Q(status="active") & ~models.Q(key=""),
                name="one_active_fact_a_key",
            ),
        ),
    ]
