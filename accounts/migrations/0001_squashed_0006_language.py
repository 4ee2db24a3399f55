"""The accounts' tables in release 0.1.0, from which upgrades start: one migration instead of its 6.

Columns are in the order in which those added them, so that a new database and an upgraded one are the same.
"""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import accounts.models

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
    ("simple", "Another language (exact words only)"),
]

# A changed language: no row is in one that isn't named.
WORDS_IN = """
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
    initial = True

    replaces = [
        ("accounts", "0001_initial"),
        ("accounts", "0002_access_log"),
        ("accounts", "0003_surfaces"),
        ("accounts", "0004_api_rate"),
        ("accounts", "0005_relationship_stage"),
        ("accounts", "0006_language"),
    ]
    dependencies = [("auth", "0012_alter_user_first_name_max_length")]

    operations = [
        migrations.CreateModel(
            name="User",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                (
                    "is_staff",
                    models.BooleanField(
                        default=False,
                        help_text="Designates whether the user can log into this admin site.",
                        verbose_name="staff status",
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
                        verbose_name="active",
                    ),
                ),
                ("date_joined", models.DateTimeField(default=django.utils.timezone.now, verbose_name="date joined")),
                ("email", models.EmailField(max_length=254, unique=True, verbose_name="email address")),
                (
                    "preferred_name",
                    models.CharField(blank=True, help_text="How Recall addresses the user", max_length=80),
                ),
                (
                    "time_zone",
                    models.CharField(default="UTC", max_length=64, validators=[accounts.models.validate_time_zone]),
                ),
                (
                    "chat_model",
                    models.CharField(
                        blank=True, help_text="For new conversations; empty: the server's default", max_length=80
                    ),
                ),
                (
                    "effort",
                    models.CharField(
                        blank=True, help_text="For new conversations; empty: the model's default", max_length=6
                    ),
                ),
                (
                    "welcomed_at",
                    models.DateTimeField(blank=True, help_text="When the welcome was read or closed", null=True),
                ),
                (
                    "relationship_stage",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("NEW", "New"),
                            ("DEVELOPING", "Getting familiar"),
                            ("COMFORTABLE", "Comfortable"),
                            ("TRUSTED", "Trusted"),
                        ],
                        help_text="Set by the user; empty: automatic",
                        max_length=11,
                    ),
                ),
                (
                    "language",
                    models.CharField(
                        choices=LANGUAGES,
                        default="english",
                        help_text="The language the user writes in, for matching word forms in search",
                        max_length=10,
                    ),
                ),
                (
                    "words_in",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=LANGUAGES,
                            max_length=10,
                        ),
                        default=list,
                        editable=False,
                        help_text="Languages the search index covers: the database adds the chosen one; a former one is removed when its rows are reindexed",
                    ),
                ),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True,
                        help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.group",
                        verbose_name="groups",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.permission",
                        verbose_name="user permissions",
                    ),
                ),
            ],
            options={
                "verbose_name": "user",
                "verbose_name_plural": "users",
                "abstract": False,
                "constraints": [
                    models.UniqueConstraint(
                        django.db.models.functions.text.Lower("email"), name="email_unique_whatever_its_case"
                    )
                ],
            },
            managers=[
                ("objects", accounts.models.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name="AccessLog",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("what", models.CharField(help_text="Such as “fact 12” or “a list of facts”", max_length=120)),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "reader",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        help_text="The owner of the data",
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-at"],
                "indexes": [models.Index(fields=["user", "-at"], name="access_latest")],
            },
        ),
        migrations.CreateModel(
            name="ApiKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(help_text="The owner's name for it", max_length=80)),
                ("prefix", models.CharField(help_text="First characters, to recognize it", max_length=16)),
                (
                    "digest",
                    models.CharField(
                        help_text="SHA-256 of the key, which is 256 random bits", max_length=64, unique=True
                    ),
                ),
                (
                    "scopes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=40),
                        help_text="What it allows: see accounts/api/scopes.py",
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="api_keys",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
                "indexes": [models.Index(fields=["user", "-created_at"], name="api_keys_of_a_person")],
            },
        ),
        migrations.CreateModel(
            name="IdempotentRequest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=255)),
                ("fingerprint", models.CharField(help_text="SHA-256 of method, address and body", max_length=64)),
                ("status", models.PositiveSmallIntegerField(default=0, help_text="0: in progress")),
                ("content_type", models.CharField(blank=True, max_length=100)),
                ("body", models.BinaryField(default=bytes)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["created_at"], name="idempotent_requests_by_age")],
                "constraints": [models.UniqueConstraint(fields=("user", "key"), name="one_request_a_key")],
            },
        ),
        migrations.CreateModel(
            name="ApiRate",
            fields=[
                (
                    "holder",
                    models.CharField(
                        help_text="Such as key:12 or user:3", max_length=40, primary_key=True, serialize=False
                    ),
                ),
                ("tokens", models.FloatField(help_text="Left in the bucket at that time")),
                ("at", models.DateTimeField()),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
        ),
        # Written with each request, and worth nothing after a crash.
        migrations.RunSQL("ALTER TABLE accounts_apirate SET UNLOGGED"),
        migrations.RunSQL(WORDS_IN),
    ]
