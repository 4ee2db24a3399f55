import django.contrib.postgres.search
from django.db import migrations

# A generated column may look at its own row only; in which language somebody writes stands in another table.
FACTS = """
ALTER TABLE memory_fact ALTER COLUMN search DROP EXPRESSION;
CREATE FUNCTION memory_fact_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.search := to_tsvector((SELECT language::regconfig FROM accounts_user WHERE id = NEW.user_id), NEW.statement);
    RETURN NEW;
END $$;
CREATE TRIGGER memory_fact_words BEFORE INSERT OR UPDATE OF statement ON memory_fact
FOR EACH ROW EXECUTE FUNCTION memory_fact_words();
UPDATE memory_fact SET statement = statement;
"""
EPISODES = """
ALTER TABLE memory_episode ALTER COLUMN search DROP EXPRESSION;
CREATE FUNCTION memory_episode_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.search := to_tsvector((SELECT language::regconfig FROM accounts_user WHERE id = NEW.user_id),
                              concat_ws(' ', NEW.title, NEW.summary));
    RETURN NEW;
END $$;
CREATE TRIGGER memory_episode_words BEFORE INSERT OR UPDATE OF title, summary ON memory_episode
FOR EACH ROW EXECUTE FUNCTION memory_episode_words();
UPDATE memory_episode SET summary = summary;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0010_consolidations"),
        ("accounts", "0006_language"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(FACTS), migrations.RunSQL(EPISODES)],
            state_operations=[
                migrations.AlterField(
                    model_name=name,
                    name="search",
                    field=django.contrib.postgres.search.SearchVectorField(editable=False, null=True),
                )
                for name in ("fact", "episode")
            ],
        ),
    ]
