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
            field=models.CharField(
                choices=LANGUAGES,
                default="english",
                editable=False,
                help_text="That their memories' words are read in: the former one until a change is through",
                max_length=10,
            ),
        ),
    ]
