"""Memory's tables in release 0.1.0, from which upgrades start: one migration instead of its 12.

Columns are in the order in which those added them, so that a new database and an upgraded one are the same.
"""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.core.validators
import django.db.models.deletion
import django.utils.timezone
import pgvector.django.halfvec
from django.conf import settings
from django.db import migrations, models

import memory.models.paths

# The wellbeing boundaries that an installation starts with; edited in the admin.
STARTING = (
    "If the person seems to be in danger, in despair or in a medical emergency, say so gently and first point to local "
    "emergency services, a crisis line or somebody they trust.",
    "Give no diagnosis and no dosage. Say when a question belongs to a doctor, a lawyer or another professional.",
    "Never use a remembered weakness, fear or loss to persuade, to flatter or to keep the conversation going.",
)

# A user's word as a number: each user has entries of their own in the shared index. SQL's own hash stays the same
# between releases, as tables are partitioned by it.
WORDS_OF = """
CREATE FUNCTION memory_words_of(owner bigint, words tsvector) RETURNS bigint[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000
RETURN (SELECT array_agg(hashtextextended(word, owner)) FROM unnest(tsvector_to_array(words)) AS word);
"""

# A generated column can only read its own row; the user's language is in another table.
WORDS = """
CREATE FUNCTION memory_fact_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.search := to_tsvector((SELECT language::regconfig FROM accounts_user WHERE id = NEW.user_id), NEW.statement);
    RETURN NEW;
END $$;
CREATE TRIGGER memory_fact_words BEFORE INSERT OR UPDATE OF statement ON memory_fact
FOR EACH ROW EXECUTE FUNCTION memory_fact_words();
CREATE FUNCTION memory_episode_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.search := to_tsvector((SELECT language::regconfig FROM accounts_user WHERE id = NEW.user_id),
                              concat_ws(' ', NEW.title, NEW.summary));
    RETURN NEW;
END $$;
CREATE TRIGGER memory_episode_words BEFORE INSERT OR UPDATE OF title, summary ON memory_episode
FOR EACH ROW EXECUTE FUNCTION memory_episode_words();
"""

# What every search reads stays in the row: fetched from beside the table it takes ten times as long.
IN_THE_ROW = [
    statement.format(table=table)
    for table in ("memory_chunk", "memory_fact", "memory_episode")
    for statement in (
        "ALTER TABLE {table} SET (toast_tuple_target = 8160)",
        "ALTER TABLE {table} ALTER COLUMN vector SET STORAGE MAIN",
    )
]


def add_boundaries(apps, schema_editor):
    boundary = apps.get_model("memory", "Boundary")
    boundary.objects.bulk_create([boundary(text=text) for text in STARTING])


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("memory", "0001_initial"),
        ("memory", "0002_boundaries"),
        ("memory", "0003_index"),
        ("memory", "0004_known"),
        ("memory", "0005_chunk_author"),
        ("memory", "0006_policies_and_forgetting"),
        ("memory", "0007_forgetting_to_rewrite"),
        ("memory", "0008_review_links"),
        ("memory", "0009_deleted_documents"),
        ("memory", "0010_consolidations"),
        ("memory", "0011_words_in_a_language"),
        ("memory", "0012_words_of_one_person"),
    ]
    dependencies = [
        ("recall", "0001_extensions"),
        ("accounts", "0001_squashed_0006_language"),
        ("chat", "0001_squashed_0008_few_words_waiting"),
    ]

    operations = [
        migrations.RunSQL(WORDS_OF),
        migrations.CreateModel(
            name="Boundary",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", models.TextField()),
                ("active", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        help_text="Empty: for all",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "boundaries",
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="Document",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("path", memory.models.paths.PathField(help_text="As typed, such as /profile/identity")),
                ("title", models.CharField(max_length=200)),
                ("text", models.TextField(blank=True)),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=60), blank=True, default=list
                    ),
                ),
                (
                    "source",
                    models.CharField(
                        choices=[
                            ("user", "Written by the user"),
                            ("librarian", "Written by Recall"),
                            ("upload", "Uploaded"),
                            ("import", "Imported"),
                            ("sync", "Synchronized from a folder"),
                        ],
                        default="user",
                        max_length=10,
                    ),
                ),
                ("external_id", models.CharField(blank=True, help_text="Its name at its source", max_length=300)),
                ("tokens", models.PositiveIntegerField(default=0, help_text="Base count of the text")),
                (
                    "importance",
                    models.FloatField(
                        default=0.5,
                        validators=[
                            django.core.validators.MinValueValidator(0.0),
                            django.core.validators.MaxValueValidator(1.0),
                        ],
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("changed_at", models.DateTimeField(auto_now=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "content_hash",
                    models.CharField(blank=True, help_text="SHA-256 of what was read from the source", max_length=64),
                ),
            ],
            options={
                "indexes": [django.contrib.postgres.indexes.GistIndex(fields=["path"], name="document_path")],
                "constraints": [
                    models.UniqueConstraint(fields=("user", "path"), name="one_document_a_path"),
                    models.UniqueConstraint(
                        condition=models.Q(("external_id", ""), _negated=True),
                        fields=("user", "source", "external_id"),
                        name="one_document_a_source",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LibrarianRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("first_seq", models.PositiveIntegerField(help_text="First message read")),
                ("last_seq", models.PositiveIntegerField(help_text="Last message read")),
                ("trigger", models.CharField(help_text="ended, idle, left, turns or asked", max_length=12)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("pending", "Waiting"),
                            ("running", "Reading"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                        ],
                        default="pending",
                        max_length=8,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("claim", models.UUIDField(blank=True, help_text="Of the worker that reads it now", null=True)),
                (
                    "lease_until",
                    models.DateTimeField(blank=True, help_text="When that worker counts as dead", null=True),
                ),
                (
                    "not_before",
                    models.DateTimeField(default=django.utils.timezone.now, help_text="Earliest next attempt"),
                ),
                ("error", models.TextField(blank=True)),
                ("engine", models.CharField(blank=True, max_length=60)),
                ("learned", models.PositiveIntegerField(default=0, help_text="Facts made active")),
                ("waiting", models.PositiveIntegerField(default=0, help_text="Proposals for review")),
                (
                    "dropped",
                    models.JSONField(blank=True, default=dict, help_text="What was not stored: reason → count"),
                ),
                ("input_tokens", models.PositiveIntegerField(default=0)),
                ("output_tokens", models.PositiveIntegerField(default=0)),
                ("cost", models.DecimalField(decimal_places=6, default=0, help_text="US dollars", max_digits=12)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "conversation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="librarian_runs",
                        to="chat.conversation",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ["pending", "running"])),
                        fields=["state", "not_before"],
                        name="run_due",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("conversation", "first_seq", "last_seq"), name="one_librarian_run_a_range"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Fact",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("statement", models.TextField(help_text="Understandable on its own, about “the user”")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("identity", "Identity"),
                            ("biography", "Biography"),
                            ("person", "Person"),
                            ("place", "Place"),
                            ("event", "Event"),
                            ("preference", "Preference"),
                            ("constraint", "Things to avoid"),
                            ("instruction", "Instruction"),
                            ("goal", "Goal"),
                            ("decision", "Decision"),
                            ("procedure", "How you do it"),
                            ("entity", "Pets and things"),
                            ("fact", "Fact"),
                        ],
                        default="fact",
                        max_length=16,
                    ),
                ),
                (
                    "key",
                    models.CharField(
                        blank=True,
                        help_text="Subject and attribute, as in user/home; set: one value at a time",
                        max_length=120,
                    ),
                ),
                ("value", models.TextField(blank=True)),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=60), blank=True, default=list
                    ),
                ),
                ("tokens", models.PositiveIntegerField(default=0, help_text="Base count of the statement")),
                (
                    "confidence",
                    models.FloatField(
                        default=1.0,
                        validators=[
                            django.core.validators.MinValueValidator(0.0),
                            django.core.validators.MaxValueValidator(1.0),
                        ],
                    ),
                ),
                (
                    "importance",
                    models.FloatField(
                        default=0.5,
                        validators=[
                            django.core.validators.MinValueValidator(0.0),
                            django.core.validators.MaxValueValidator(1.0),
                        ],
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("proposed", "Proposed"),
                            ("active", "Active"),
                            ("superseded", "Superseded"),
                            ("rejected", "Rejected"),
                            ("expired", "Expired"),
                            ("archived", "Archived"),
                        ],
                        default="proposed",
                        max_length=12,
                    ),
                ),
                (
                    "reason",
                    models.CharField(blank=True, help_text="Why it waits, was accepted or was retired", max_length=200),
                ),
                (
                    "valid_from",
                    models.DateTimeField(blank=True, help_text="When it became true in the world", null=True),
                ),
                (
                    "valid_until",
                    models.DateTimeField(blank=True, help_text="When it stopped being true in the world", null=True),
                ),
                (
                    "recorded_at",
                    models.DateTimeField(default=django.utils.timezone.now, help_text="When Recall came to know it"),
                ),
                ("superseded_at", models.DateTimeField(blank=True, null=True)),
                (
                    "source",
                    models.CharField(
                        choices=[
                            ("stated", "Stated by the user"),
                            ("edited", "Edited by the user"),
                            ("imported", "Imported"),
                            ("inferred", "Inferred"),
                        ],
                        default="stated",
                        max_length=10,
                    ),
                ),
                ("quote", models.TextField(blank=True, help_text="The user's own words it rests on, verbatim")),
                (
                    "extracted_by",
                    models.CharField(blank=True, help_text="Engine and version, as in rules/1", max_length=60),
                ),
                ("vector", pgvector.django.halfvec.HalfVectorField(blank=True, editable=False, null=True)),
                ("embedded_by", models.CharField(blank=True, help_text="Name of the embedding model", max_length=80)),
                ("search", django.contrib.postgres.search.SearchVectorField(editable=False, null=True)),
                ("times_used", models.PositiveIntegerField(default=0, help_text="Prompts it was in")),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
                (
                    "message",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="facts",
                        to="chat.message",
                    ),
                ),
                (
                    "superseded_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="supersedes",
                        to="memory.fact",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="facts",
                        to="memory.librarianrun",
                    ),
                ),
                (
                    "accepted_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When the user accepted it; empty: stored right away, or still waiting",
                        null=True,
                    ),
                ),
                (
                    "withdrawn_at",
                    models.DateTimeField(
                        blank=True, help_text="When the user rejected it after it had been active", null=True
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["user", "status"], name="fact_user_status"),
                    models.Index(fields=["embedded_by", "id"], name="fact_model"),
                    django.contrib.postgres.indexes.GinIndex(
                        fields=["user", "search"], gin_pending_list_limit=64, name="fact_words"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("status", "active"), models.Q(("key", ""), _negated=True)),
                        fields=("user", "kind", "key"),
                        name="one_active_fact_a_key",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("confidence__range", (0, 1)), ("importance__range", (0, 1))),
                        name="fact_scores_between_0_and_1",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ReviewAction",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "verb",
                    models.CharField(
                        choices=[
                            ("accept", "Accepted"),
                            ("edit", "Edited and accepted"),
                            ("reject", "Rejected"),
                            ("keep_both", "Kept beside the other"),
                            ("unrelated", "Kept, no contradiction"),
                            ("merge", "Merged"),
                        ],
                        max_length=9,
                    ),
                ),
                (
                    "before",
                    models.JSONField(help_text="Changed columns of each changed fact: {fact id: {column: value}}"),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("undone_at", models.DateTimeField(blank=True, null=True)),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "fact",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="review_actions", to="memory.fact"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "batch",
                    models.UUIDField(blank=True, help_text="Decisions taken by one click, undone by one", null=True),
                ),
                (
                    "links",
                    models.JSONField(
                        blank=True,
                        default=list,
                        help_text="Contradictions it settled: [[from, to, relation, strength or null], …]",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["user", "-created_at"], name="review_latest"),
                    models.Index(
                        condition=models.Q(("batch__isnull", False)), fields=["user", "batch"], name="review_batch"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Revision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("text", models.TextField(blank=True)),
                (
                    "author",
                    models.CharField(
                        choices=[
                            ("user", "You"),
                            ("librarian", "The librarian"),
                            ("import", "An import"),
                            ("sync", "Synchronized"),
                        ],
                        default="user",
                        max_length=10,
                    ),
                ),
                ("note", models.CharField(blank=True, max_length=200)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "document",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="revisions", to="memory.document"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ["-number"],
                "constraints": [models.UniqueConstraint(fields=("document", "number"), name="one_revision_a_number")],
            },
        ),
        migrations.CreateModel(
            name="Chunk",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("vector", pgvector.django.halfvec.HalfVectorField(blank=True, editable=False, null=True)),
                ("embedded_by", models.CharField(blank=True, help_text="Name of the embedding model", max_length=80)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("document", "Document"),
                            ("message", "Message"),
                            ("segment", "Summary of earlier turns"),
                        ],
                        max_length=8,
                    ),
                ),
                (
                    "number",
                    models.PositiveIntegerField(default=0, help_text="Place of the passage within its source, from 0"),
                ),
                (
                    "place",
                    models.PositiveIntegerField(
                        default=0, help_text="Place of the source in its conversation: the message's seq"
                    ),
                ),
                ("text", models.TextField()),
                (
                    "heading",
                    models.CharField(blank=True, help_text="Headings above it in the document", max_length=400),
                ),
                (
                    "author",
                    models.CharField(
                        blank=True, help_text="Who speaks, where it is neither user nor model", max_length=80
                    ),
                ),
                ("own_words", models.BooleanField(default=False, help_text="Written by the user")),
                (
                    "said_at",
                    models.DateTimeField(default=django.utils.timezone.now, help_text="When it was said or written"),
                ),
                ("tokens", models.PositiveIntegerField(default=0, help_text="Base count of the text")),
                ("search", django.contrib.postgres.search.SearchVectorField(editable=False, null=True)),
                ("times_used", models.PositiveIntegerField(default=0, help_text="Prompts it was in")),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
                (
                    "conversation",
                    models.ForeignKey(
                        blank=True,
                        help_text="It belongs to",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="chat.conversation",
                    ),
                ),
                (
                    "document",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="chunks",
                        to="memory.document",
                    ),
                ),
                (
                    "message",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="chat.message",
                    ),
                ),
                (
                    "segment",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="chat.segment",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["conversation", "place", "number"], name="chunk_neighbours"),
                    models.Index(fields=["embedded_by", "id"], name="chunk_model"),
                    models.Index(fields=["user", "author"], name="chunk_author"),
                    django.contrib.postgres.indexes.GinIndex(
                        models.Func("user", "search", function="memory_words_of"),
                        gin_pending_list_limit=64,
                        name="chunk_words",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("document__isnull", False),
                                ("kind", "document"),
                                ("message__isnull", True),
                                ("segment__isnull", True),
                            ),
                            models.Q(
                                ("document__isnull", True),
                                ("kind", "message"),
                                ("message__isnull", False),
                                ("segment__isnull", True),
                            ),
                            models.Q(
                                ("document__isnull", True),
                                ("kind", "segment"),
                                ("message__isnull", True),
                                ("segment__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="chunk_of_one_source",
                    ),
                    models.UniqueConstraint(fields=("document", "number"), name="one_chunk_a_place_of_a_document"),
                    models.UniqueConstraint(fields=("message", "number"), name="one_chunk_a_place_of_a_message"),
                    models.UniqueConstraint(fields=("segment", "number"), name="one_chunk_a_place_of_a_segment"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Episode",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("vector", pgvector.django.halfvec.HalfVectorField(blank=True, editable=False, null=True)),
                ("embedded_by", models.CharField(blank=True, help_text="Name of the embedding model", max_length=80)),
                ("first_turn", models.PositiveIntegerField(default=0)),
                ("last_turn", models.PositiveIntegerField(default=0)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("plain", "Conversation"),
                            ("decision_made", "Decision made"),
                            ("problem_solved", "Problem solved"),
                            ("breakthrough", "Breakthrough"),
                            ("issue_identified", "Issue identified"),
                            ("task_completed", "Task completed"),
                            ("pivot", "Change of direction"),
                        ],
                        default="plain",
                        max_length=16,
                    ),
                ),
                ("title", models.CharField(max_length=200)),
                ("summary", models.TextField()),
                ("context", models.TextField(blank=True, help_text="What led to it")),
                (
                    "participants",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=80), blank=True, default=list
                    ),
                ),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "Unknown"),
                            ("success", "Success"),
                            ("partial", "Partly"),
                            ("interrupted", "Interrupted"),
                        ],
                        default="",
                        max_length=11,
                    ),
                ),
                ("tone", models.CharField(blank=True, help_text="Emotional tone, in a word", max_length=40)),
                ("valence", models.FloatField(default=0.0, help_text="−1 (bad) to 1 (good)")),
                (
                    "significance",
                    models.FloatField(
                        default=0.5,
                        validators=[
                            django.core.validators.MinValueValidator(0.0),
                            django.core.validators.MaxValueValidator(1.0),
                        ],
                    ),
                ),
                (
                    "topics",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=60), blank=True, default=list
                    ),
                ),
                ("happened_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("recorded_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "status",
                    models.CharField(
                        choices=[("live", "Live"), ("merged", "Merged into another"), ("archived", "Archived")],
                        default="live",
                        max_length=8,
                    ),
                ),
                ("tokens", models.PositiveIntegerField(default=0, help_text="Base count of title and summary")),
                ("extracted_by", models.CharField(blank=True, help_text="Engine and version", max_length=60)),
                ("search", django.contrib.postgres.search.SearchVectorField(editable=False, null=True)),
                ("times_used", models.PositiveIntegerField(default=0, help_text="Prompts it was in")),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
                (
                    "conversation",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="episodes",
                        to="chat.conversation",
                    ),
                ),
                (
                    "merged_into",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="merged",
                        to="memory.episode",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="episodes",
                        to="memory.librarianrun",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("facts", models.ManyToManyField(blank=True, related_name="episodes", to="memory.fact")),
            ],
            options={
                "indexes": [
                    models.Index(fields=["user", "status", "-happened_at"], name="episode_timeline"),
                    models.Index(fields=["embedded_by", "id"], name="episode_model"),
                    django.contrib.postgres.indexes.GinIndex(
                        fields=["user", "search"], gin_pending_list_limit=64, name="episode_words"
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("significance__range", (0, 1)), ("valence__range", (-1, 1))),
                        name="episode_scores_in_range",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("last_turn__gte", models.F("first_turn"))), name="episode_turns_in_order"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("status", "live")),
                        fields=("conversation", "first_turn", "last_turn"),
                        name="one_live_episode_a_turn_range",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="FactLink",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "relation",
                    models.CharField(
                        choices=[
                            ("related_to", "Related to"),
                            ("depends_on", "Depends on"),
                            ("contradicts", "Contradicts"),
                            ("supersedes", "Supersedes"),
                            ("part_of", "Part of"),
                            ("caused_by", "Caused by"),
                        ],
                        default="related_to",
                        max_length=12,
                    ),
                ),
                (
                    "strength",
                    models.FloatField(
                        default=0.5,
                        validators=[
                            django.core.validators.MinValueValidator(0.0),
                            django.core.validators.MaxValueValidator(1.0),
                        ],
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "from_fact",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="links", to="memory.fact"
                    ),
                ),
                (
                    "to_fact",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="linked_from", to="memory.fact"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["user", "relation"], name="link_relation")],
                "constraints": [
                    models.UniqueConstraint(fields=("from_fact", "to_fact", "relation"), name="one_link_a_relation"),
                    models.CheckConstraint(
                        condition=models.Q(("from_fact", models.F("to_fact")), _negated=True), name="no_link_to_itself"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("strength__range", (0, 1))), name="link_strength_between_0_and_1"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PersonalIndex",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "rows",
                    models.PositiveIntegerField(default=0, help_text="Searchable rows when it was last looked at"),
                ),
                (
                    "common_words",
                    models.JSONField(blank=True, default=dict, help_text="Lexeme → rows, of those in many rows"),
                ),
                (
                    "models_indexed",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=80), blank=True, default=list
                    ),
                ),
                ("built_at", models.DateTimeField(blank=True, null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "personal indexes",
                "constraints": [models.UniqueConstraint(fields=("user",), name="one_personal_index_a_user")],
            },
        ),
        migrations.CreateModel(
            name="Upload",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(help_text="As the file was called", max_length=255)),
                ("media_type", models.CharField(max_length=100)),
                ("size", models.PositiveIntegerField(help_text="Bytes")),
                ("folder", models.CharField(help_text="Path of the folder it goes to", max_length=500)),
                ("content", models.BinaryField(blank=True, help_text="Kept until it is read", null=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("reading", "Reading"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                        ],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("error", models.TextField(blank=True, help_text="One sentence for the user")),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                (
                    "lease_until",
                    models.DateTimeField(blank=True, help_text="When its reader counts as dead", null=True),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "document",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="uploads",
                        to="memory.document",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ["waiting", "reading"])),
                        fields=["state", "created_at"],
                        name="upload_due",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Forgetting",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "what",
                    models.CharField(
                        choices=[
                            ("fact", "A fact"),
                            ("message", "A message"),
                            ("conversation", "A conversation"),
                            ("document", "A document"),
                            ("episode", "An episode"),
                            ("topic", "A topic"),
                            ("everything", "Everything"),
                        ],
                        max_length=12,
                    ),
                ),
                ("gone", models.JSONField(default=dict, help_text="What went: type → count")),
                ("restored", models.PositiveIntegerField(default=0, help_text="Facts that came back")),
                (
                    "found_again",
                    models.PositiveIntegerField(
                        help_text="Hits when it was asked for afterwards; 0 proves it", null=True
                    ),
                ),
                ("checked_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "by",
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
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "to_rewrite",
                    models.JSONField(
                        default=list, help_text="Summaries to rewrite from what is left: {what, id} or turns; ids only"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["user", "-id"], name="forgetting_latest")],
            },
        ),
        migrations.CreateModel(
            name="KindPolicy",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("subject", models.CharField(help_text="A kind of fact, “health” or “third_parties”", max_length=16)),
                (
                    "rule",
                    models.CharField(
                        choices=[
                            ("automatic", "Remember without asking"),
                            ("ask", "Ask me"),
                            ("never", "Never remember"),
                        ],
                        max_length=9,
                    ),
                ),
                ("changed_at", models.DateTimeField(auto_now=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "kind policies",
                "constraints": [models.UniqueConstraint(fields=("user", "subject"), name="one_policy_a_subject")],
            },
        ),
        migrations.CreateModel(
            name="DeletedDocument",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("path", memory.models.paths.PathField(help_text="Its path at that time")),
                (
                    "deleted_at",
                    models.DateTimeField(db_index=True, help_text="The same for all that one click deleted"),
                ),
                ("rows", models.TextField(help_text="The document and its versions, as Django serialises rows")),
                (
                    "decisions",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(),
                        default=list,
                        help_text="Ids of the review actions that rejected facts of its lines",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Consolidation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "how",
                    models.CharField(
                        choices=[("nightly", "Every night"), ("asked", "You asked for it"), ("command", "By command")],
                        max_length=8,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "Queued"), ("done", "Done"), ("failed", "Not done")],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                (
                    "figures",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="What it did, in numbers: memory/consolidation/consolidate.py: Report",
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["user", "-id"], name="consolidation_latest")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "waiting")), fields=("user",), name="one_waiting_consolidation"
                    )
                ],
            },
        ),
        migrations.RunSQL(IN_THE_ROW),
        migrations.RunSQL(WORDS),
        migrations.RunPython(add_boundaries, migrations.RunPython.noop),
    ]
