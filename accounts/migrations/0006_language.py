import django.contrib.postgres.fields
from django.db import migrations, models

LANGUAGES = [
    ("english", "English"),
    ("arabic", "العربية"),
    ("armenian", "Հայերեն"),
    ("basque", "Euskara"),
    ("catalan", "Català"),
    ("danish", "Dansk"),
    ("dutch", "Nederlands"),
    ("finnish", "Suomi"),
    ("french", "Français"),
    ("german", "Deutsch"),
    ("greek", "Ελληνικά"),
    ("hindi", "हिन्दी"),
    ("hungarian", "Magyar"),
    ("indonesian", "Bahasa Indonesia"),
    ("irish", "Gaeilge"),
    ("italian", "Italiano"),
    ("lithuanian", "Lietuvių"),
    ("nepali", "नेपाली"),
    ("norwegian", "Norsk"),
    ("portuguese", "Português"),
    ("romanian", "Română"),
    ("russian", "Русский"),
    ("serbian", "Српски"),
    ("spanish", "Español"),
    ("swedish", "Svenska"),
    ("tamil", "தமிழ்"),
    ("turkish", "Türkçe"),
    ("yiddish", "ייִדיש"),
    ("simple", "Another one: words are found as they are written"),
]

# Whoever changes the language, by whatever way: no row is in one that is not named.
KEPT = """
UPDATE accounts_user SET words_in = ARRAY[language];
CREATE FUNCTION accounts_user_words_in() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.language IS DISTINCT FROM OLD.language THEN
        NEW.words_in := ARRAY(SELECT DISTINCT unnest(OLD.words_in || NEW.words_in || NEW.language));
    ELSIF NEW.language <> ALL(NEW.words_in) THEN
        NEW.words_in := NEW.words_in || NEW.language;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER accounts_user_words_in BEFORE INSERT OR UPDATE OF language, words_in ON accounts_user
FOR EACH ROW EXECUTE FUNCTION accounts_user_words_in();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0005_relationship_stage"),
    ]

    operations = [
        migrations.AddField(
            model_name="user",
            name="language",
            field=models.CharField(
                choices=LANGUAGES,
                default="english",
                help_text="That they write in: their memories' words are found in all their forms in it",
                max_length=10,
            ),
        ),
        migrations.AddField(
            model_name="user",
            name="words_in",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(choices=LANGUAGES, max_length=10),
                default=list,
                editable=False,
                help_text="Languages their memories' words may be read in: the database adds the one they choose, and a"
                " former one goes when its rows were read anew",
                size=None,
            ),
        ),
        migrations.RunSQL(KEPT),
    ]
