import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.core.validators
import django.db.models.deletion
import django.utils.timezone
import pgvector.django.halfvec
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("chat", "0002_index"),
        ("memory", "0002_boundaries"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
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
                    models.CharField(blank=True, help_text="Headings of the document it stands below", max_length=400),
                ),
                (
                    "author",
                    models.CharField(
                        blank=True, help_text="Who speaks, where it is neither user nor model", max_length=80
                    ),
                ),
                ("own_words", models.BooleanField(default=False, help_text="Written by the person themselves")),
                (
                    "said_at",
                    models.DateTimeField(default=django.utils.timezone.now, help_text="When it was said or written"),
                ),
                ("tokens", models.PositiveIntegerField(default=0, help_text="Base count of the text")),
                ("search", django.contrib.postgres.search.SearchVectorField(editable=False, null=True)),
                ("times_used", models.PositiveIntegerField(default=0, help_text="Prompts it stood in")),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
            ],
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
                            ("", "Not told"),
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
                (
                    "search",
                    models.GeneratedField(
                        db_persist=True,
                        expression=django.contrib.postgres.search.CombinedSearchVector(
                            django.contrib.postgres.search.SearchVector("title", "summary", config="english"),
                            "||",
                            django.contrib.postgres.search.SearchVector("title", "summary", config="simple"),
                            django.contrib.postgres.search.SearchConfig("english"),
                        ),
                        output_field=django.contrib.postgres.search.SearchVectorField(),
                    ),
                ),
                ("times_used", models.PositiveIntegerField(default=0, help_text="Prompts it stood in")),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
            ],
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
            ],
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
            ],
            options={
                "verbose_name_plural": "personal indexes",
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
                ("error", models.TextField(blank=True, help_text="One sentence for the person")),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                (
                    "lease_until",
                    models.DateTimeField(blank=True, help_text="When its reader counts as dead", null=True),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ["-created_at"],
            },
        ),
        migrations.AddField(
            model_name="document",
            name="content_hash",
            field=models.CharField(blank=True, help_text="SHA-256 of what was read from the source", max_length=64),
        ),
        migrations.AlterField(
            model_name="document",
            name="external_id",
            field=models.CharField(blank=True, help_text="Its name at its source", max_length=300),
        ),
        migrations.AlterField(
            model_name="fact",
            name="vector",
            field=pgvector.django.halfvec.HalfVectorField(blank=True, editable=False, null=True),
        ),
        migrations.AlterField(
            model_name="revision",
            name="author",
            field=models.CharField(
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
        migrations.AddIndex(
            model_name="fact",
            index=models.Index(fields=["embedded_by", "id"], name="fact_model"),
        ),
        migrations.AddConstraint(
            model_name="document",
            constraint=models.UniqueConstraint(
                condition=models.Q(("external_id", ""), _negated=True),
                fields=("user", "source", "external_id"),
                name="one_document_a_source",
            ),
        ),
        migrations.AddField(
            model_name="chunk",
            name="conversation",
            field=models.ForeignKey(
                blank=True,
                help_text="It belongs to",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="chat.conversation",
            ),
        ),
        migrations.AddField(
            model_name="chunk",
            name="document",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="chunks",
                to="memory.document",
            ),
        ),
        migrations.AddField(
            model_name="chunk",
            name="message",
            field=models.ForeignKey(
                blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="chat.message"
            ),
        ),
        migrations.AddField(
            model_name="chunk",
            name="segment",
            field=models.ForeignKey(
                blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="chat.segment"
            ),
        ),
        migrations.AddField(
            model_name="chunk",
            name="user",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="episode",
            name="conversation",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="episodes",
                to="chat.conversation",
            ),
        ),
        migrations.AddField(
            model_name="episode",
            name="facts",
            field=models.ManyToManyField(blank=True, related_name="episodes", to="memory.fact"),
        ),
        migrations.AddField(
            model_name="episode",
            name="merged_into",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="merged",
                to="memory.episode",
            ),
        ),
        migrations.AddField(
            model_name="episode",
            name="run",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="episodes",
                to="memory.librarianrun",
            ),
        ),
        migrations.AddField(
            model_name="episode",
            name="user",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="factlink",
            name="from_fact",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="links", to="memory.fact"
            ),
        ),
        migrations.AddField(
            model_name="factlink",
            name="to_fact",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="linked_from", to="memory.fact"
            ),
        ),
        migrations.AddField(
            model_name="factlink",
            name="user",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="personalindex",
            name="user",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="upload",
            name="document",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="uploads",
                to="memory.document",
            ),
        ),
        migrations.AddField(
            model_name="upload",
            name="user",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddIndex(
            model_name="chunk",
            index=models.Index(fields=["conversation", "place", "number"], name="chunk_neighbours"),
        ),
        migrations.AddIndex(
            model_name="chunk",
            index=models.Index(fields=["embedded_by", "id"], name="chunk_model"),
        ),
        migrations.AddIndex(
            model_name="chunk",
            index=django.contrib.postgres.indexes.GinIndex(fields=["user", "search"], name="chunk_words"),
        ),
        migrations.AddConstraint(
            model_name="chunk",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="chunk",
            constraint=models.UniqueConstraint(fields=("document", "number"), name="one_chunk_a_place_of_a_document"),
        ),
        migrations.AddConstraint(
            model_name="chunk",
            constraint=models.UniqueConstraint(fields=("message", "number"), name="one_chunk_a_place_of_a_message"),
        ),
        migrations.AddConstraint(
            model_name="chunk",
            constraint=models.UniqueConstraint(fields=("segment", "number"), name="one_chunk_a_place_of_a_segment"),
        ),
        migrations.AddIndex(
            model_name="episode",
            index=models.Index(fields=["user", "status", "-happened_at"], name="episode_timeline"),
        ),
        migrations.AddIndex(
            model_name="episode",
            index=models.Index(fields=["embedded_by", "id"], name="episode_model"),
        ),
        migrations.AddIndex(
            model_name="episode",
            index=django.contrib.postgres.indexes.GinIndex(fields=["user", "search"], name="episode_words"),
        ),
        migrations.AddConstraint(
            model_name="episode",
            constraint=models.CheckConstraint(
                condition=models.Q(("significance__range", (0, 1)), ("valence__range", (-1, 1))),
                name="episode_scores_in_range",
            ),
        ),
        migrations.AddConstraint(
            model_name="episode",
            constraint=models.CheckConstraint(
                condition=models.Q(("last_turn__gte", models.F("first_turn"))), name="episode_turns_in_order"
            ),
        ),
        migrations.AddIndex(
            model_name="factlink",
            index=models.Index(fields=["user", "relation"], name="link_relation"),
        ),
        migrations.AddConstraint(
            model_name="factlink",
            constraint=models.UniqueConstraint(fields=("from_fact", "to_fact", "relation"), name="one_link_a_relation"),
        ),
        migrations.AddConstraint(
            model_name="factlink",
            constraint=models.CheckConstraint(
                condition=models.Q(("from_fact", models.F("to_fact")), _negated=True), name="no_link_to_itself"
            ),
        ),
        migrations.AddConstraint(
            model_name="factlink",
            constraint=models.CheckConstraint(
                condition=models.Q(("strength__range", (0, 1))), name="link_strength_between_0_and_1"
            ),
        ),
        migrations.AddConstraint(
            model_name="personalindex",
            constraint=models.UniqueConstraint(fields=("user",), name="one_personal_index_a_user"),
        ),
        migrations.AddIndex(
            model_name="upload",
            index=models.Index(
                condition=models.Q(("state__in", ["waiting", "reading"])),
                fields=["state", "created_at"],
                name="upload_due",
            ),
        ),
        # What every search reads stays in the row: fetched from beside the table it takes ten times as long.
        migrations.RunSQL(
            [
                statement.format(table=table)
                for table in ("memory_chunk", "memory_fact", "memory_episode")
                for statement in (
                    "ALTER TABLE {table} SET (toast_tuple_target = 8160)",
                    "ALTER TABLE {table} ALTER COLUMN vector SET STORAGE MAIN",
                )
            ],
            migrations.RunSQL.noop,
        ),
    ]
