import django.contrib.postgres.indexes
from django.db import migrations, models

# A word of a person's, as a number: so each has entries of their own in the index that all share. SQL's own hash, which
# stays the same between releases, as tables are partitioned by it.
WORDS_OF = """
CREATE FUNCTION memory_words_of(owner bigint, words tsvector) RETURNS bigint[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000
RETURN (SELECT array_agg(hashtextextended(word, owner)) FROM unnest(tsvector_to_array(words)) AS word);
"""
# New words wait in a list that every search reads to its end: of 4 MB, unless somebody says less.
SHORT_LIST = """
ALTER INDEX {name} SET (gin_pending_list_limit = 64);
SELECT gin_clean_pending_list('{name}');
"""
AS_BEFORE = "ALTER INDEX {name} RESET (gin_pending_list_limit)"


def words_index(name: str) -> django.contrib.postgres.indexes.GinIndex:
    return django.contrib.postgres.indexes.GinIndex(fields=["user", "search"], gin_pending_list_limit=64, name=name)


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0011_words_in_a_language"),
    ]

    operations = [
        migrations.RunSQL(WORDS_OF, "DROP FUNCTION memory_words_of(bigint, tsvector)"),
        migrations.RemoveIndex(model_name="chunk", name="chunk_words"),
        migrations.AddIndex(
            model_name="chunk",
            index=django.contrib.postgres.indexes.GinIndex(
                models.Func("user", "search", function="memory_words_of"),
                gin_pending_list_limit=64,
                name="chunk_words",
            ),
        ),
        *(
            migrations.SeparateDatabaseAndState(
                database_operations=[migrations.RunSQL(SHORT_LIST.format(name=name), AS_BEFORE.format(name=name))],
                state_operations=[
                    migrations.RemoveIndex(model_name=model, name=name),
                    migrations.AddIndex(model_name=model, index=words_index(name)),
                ],
            )
            for model, name in (("fact", "fact_words"), ("episode", "episode_words"))
        ),
    ]
