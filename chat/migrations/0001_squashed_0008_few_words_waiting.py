"""The chat's tables in release 0.1.0, from which upgrades start: one migration instead of its 8.

Columns are in the order in which those added them, so that a new database and an upgraded one are the same.
"""

import uuid

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import memory.models.paths


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("chat", "0001_initial"),
        ("chat", "0002_index"),
        ("chat", "0003_task"),
        ("chat", "0004_compaction"),
        ("chat", "0005_imports"),
        ("chat", "0006_surfaces"),
        ("chat", "0007_quiet_conversations"),
        ("chat", "0008_few_words_waiting"),
    ]
    dependencies = [
        ("recall", "0001_extensions"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Role",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=80)),
                ("instructions", models.TextField()),
                ("version", models.PositiveIntegerField(default=1)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("user", "name"), name="one_role_a_name")],
            },
        ),
        migrations.CreateModel(
            name="Conversation",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("title", models.CharField(blank=True, max_length=200)),
                (
                    "status",
                    models.CharField(
                        choices=[("active", "Active"), ("paused", "Paused"), ("ended", "Ended")],
                        default="active",
                        max_length=6,
                    ),
                ),
                ("model", models.CharField(blank=True, help_text="Empty: the CHAT_MODEL setting", max_length=80)),
                (
                    "effort",
                    models.CharField(
                        blank=True,
                        choices=[("", "The model's default"), ("low", "Low"), ("medium", "Medium"), ("high", "High")],
                        default="",
                        max_length=6,
                    ),
                ),
                (
                    "scope",
                    models.CharField(
                        blank=True,
                        help_text="A /projects/… path, or empty",
                        max_length=500,
                        validators=[memory.models.paths.is_path],
                    ),
                ),
                ("started_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("last_activity_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("next_seq", models.PositiveIntegerField(default=1, help_text="Number of the next message")),
                (
                    "cut_from",
                    models.PositiveIntegerField(default=0, help_text="First turn behind the placeholder; 0: none"),
                ),
                ("cut_until", models.PositiveIntegerField(default=0, help_text="Last turn behind the placeholder")),
                (
                    "librarian_watermark",
                    models.PositiveIntegerField(default=0, help_text="Last message covered by a librarian run"),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                # A number until there are messages to refer to, below.
                ("active_leaf", models.BigIntegerField(db_column="active_leaf_id", null=True)),
                (
                    "role",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="conversations",
                        to="chat.role",
                    ),
                ),
                (
                    "task",
                    models.JSONField(
                        blank=True, default=dict, help_text="Goal, steps and done, as last set by the model"
                    ),
                ),
                ("external_id", models.CharField(blank=True, help_text="Its id there", max_length=200)),
                (
                    "origin",
                    models.CharField(
                        blank=True, help_text="Where it was imported from, such as chatgpt; empty: here", max_length=20
                    ),
                ),
                ("archived_at", models.DateTimeField(blank=True, null=True)),
                (
                    "deleted_at",
                    models.DateTimeField(blank=True, help_text="Hidden everywhere; purged after 30 minutes", null=True),
                ),
                ("only_project", models.BooleanField(default=False, help_text="Recalls from its scope only")),
                ("pinned_at", models.DateTimeField(blank=True, null=True)),
                (
                    "title_is_own",
                    models.BooleanField(default=False, help_text="Set by the user; never replaced automatically"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["user", "-last_activity_at"], name="conversation_latest"),
                    models.Index(
                        condition=models.Q(("deleted_at__isnull", False)),
                        fields=["deleted_at"],
                        name="conversation_deleted",
                    ),
                    models.Index(
                        condition=models.Q(("status", "ended"), _negated=True),
                        fields=["last_activity_at"],
                        name="conversation_quiet",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("external_id", ""), _negated=True),
                        fields=("user", "origin", "external_id"),
                        name="imported_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Message",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("seq", models.PositiveIntegerField(help_text="Order of arrival within the conversation")),
                ("turn", models.PositiveIntegerField(help_text="Number of the exchange along this branch, from 1")),
                (
                    "role",
                    models.CharField(
                        choices=[("user", "User"), ("assistant", "Assistant"), ("tool", "Tool")], max_length=9
                    ),
                ),
                ("author", models.CharField(blank=True, help_text="Speaker, if neither user nor model", max_length=80)),
                (
                    "event_type",
                    models.CharField(
                        choices=[
                            ("user_message", "User message"),
                            ("assistant_response", "Assistant response"),
                            ("tool_call", "Tool call"),
                            ("tool_result", "Tool result"),
                            ("conversation_summary", "Conversation summary"),
                        ],
                        max_length=20,
                    ),
                ),
                ("text", models.TextField(blank=True)),
                ("event_data", models.JSONField(blank=True, default=dict)),
                ("tokens", models.PositiveIntegerField(default=0, help_text="Base count when first counted")),
                (
                    "client_id",
                    models.UUIDField(
                        blank=True, help_text="Set by the browser, so that a resend is a no-op", null=True
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("streaming", "In progress"),
                            ("complete", "Complete"),
                            ("interrupted", "Interrupted"),
                            ("failed", "Failed"),
                        ],
                        default="complete",
                        max_length=11,
                    ),
                ),
                (
                    "process_key",
                    models.BigIntegerField(blank=True, help_text="Of the web process that generates it", null=True),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("archived_at", models.DateTimeField(blank=True, null=True)),
                (
                    "search",
                    models.GeneratedField(
                        db_persist=True,
                        expression=django.contrib.postgres.search.SearchVector(
                            django.db.models.functions.text.Left("text", 100000), config="simple"
                        ),
                        output_field=django.contrib.postgres.search.SearchVectorField(),
                    ),
                ),
                (
                    "conversation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="messages", to="chat.conversation"
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="children",
                        to="chat.message",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "external_id",
                    models.CharField(blank=True, help_text="Its id where it was imported from", max_length=100),
                ),
            ],
            options={
                "ordering": ["seq"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("status", "streaming")),
                        fields=["process_key"],
                        name="message_being_written",
                    ),
                    django.contrib.postgres.indexes.GinIndex(
                        fields=["user", "search"], gin_pending_list_limit=64, name="message_words"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("conversation", "seq"), name="one_message_a_seq"),
                    models.UniqueConstraint(
                        condition=models.Q(("client_id__isnull", False)), fields=("user", "client_id"), name="sent_once"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("status", "streaming")),
                        fields=("conversation",),
                        name="one_answer_at_a_time_a_conversation",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Segment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField(help_text="Order within the conversation, from 1")),
                ("first_turn", models.PositiveIntegerField()),
                ("last_turn", models.PositiveIntegerField()),
                ("text", models.TextField(help_text="The summary as the prompt shows it")),
                (
                    "summary",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="Decisions, action items, insights, preferences: lists of sentences",
                    ),
                ),
                (
                    "topics",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=60), blank=True, default=list
                    ),
                ),
                ("tokens", models.PositiveIntegerField(default=0, help_text="Base count of the text")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "conversation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="segments", to="chat.conversation"
                    ),
                ),
                (
                    "merged_into",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="merged",
                        to="chat.segment",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "before",
                    models.ForeignKey(
                        blank=True,
                        help_text="The message before its first turn",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="chat.message",
                    ),
                ),
                (
                    "last_message",
                    models.ForeignKey(
                        blank=True,
                        help_text="Its last answer: the segment applies to every branch through this message",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="ended_segments",
                        to="chat.message",
                    ),
                ),
            ],
            options={
                "ordering": ["number"],
                "constraints": [
                    models.UniqueConstraint(fields=("conversation", "number"), name="one_segment_a_number"),
                    models.CheckConstraint(
                        condition=models.Q(("last_turn__gte", models.F("first_turn"))), name="segment_turns_in_order"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Compaction",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "reason",
                    models.CharField(help_text="Name of a trigger: see chat/compaction/triggers.py", max_length=12),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("pending", "Queued"), ("running", "Running"), ("done", "Done"), ("failed", "Failed")],
                        default="pending",
                        max_length=8,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("claim", models.UUIDField(blank=True, help_text="Of the worker that has claimed it", null=True)),
                ("lease_until", models.DateTimeField(blank=True, help_text="When the claim expires", null=True)),
                (
                    "not_before",
                    models.DateTimeField(default=django.utils.timezone.now, help_text="Earliest next attempt"),
                ),
                ("error", models.TextField(blank=True)),
                ("engine", models.CharField(blank=True, help_text="Engine of the last summary", max_length=60)),
                ("segments", models.PositiveIntegerField(default=0, help_text="Segments created")),
                ("input_tokens", models.PositiveIntegerField(default=0)),
                ("output_tokens", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "conversation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="compactions", to="chat.conversation"
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
                        name="compaction_due",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["pending", "running"])),
                        fields=("conversation",),
                        name="one_compaction_at_a_time_a_conversation",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ImportJob",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(help_text="Original file name", max_length=255)),
                ("origin", models.CharField(blank=True, help_text="Detected origin, such as chatgpt", max_length=20)),
                ("size", models.PositiveBigIntegerField(help_text="Bytes")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Queued"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Canceled"),
                        ],
                        default="waiting",
                        max_length=9,
                    ),
                ),
                ("done", models.PositiveIntegerField(default=0, help_text="Conversations imported")),
                (
                    "total",
                    models.PositiveIntegerField(default=0, help_text="Conversations in the file; 0: not yet known"),
                ),
                (
                    "counts",
                    models.JSONField(blank=True, default=dict, help_text="Results: new, known, left out, broken …"),
                ),
                ("error", models.TextField(blank=True, help_text="One sentence for the user")),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("claim", models.UUIDField(blank=True, help_text="Of the worker that has claimed it", null=True)),
                ("lease_until", models.DateTimeField(blank=True, help_text="When the claim expires", null=True)),
                (
                    "not_before",
                    models.DateTimeField(default=django.utils.timezone.now, help_text="Earliest next attempt"),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
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
                        condition=models.Q(("state__in", ["waiting", "running"])),
                        fields=["state", "not_before"],
                        name="import_due",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ImportPart",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField(help_text="Order within the file, from 0")),
                ("content", models.BinaryField()),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="parts", to="chat.importjob"
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
                "ordering": ["number"],
                "constraints": [models.UniqueConstraint(fields=("job", "number"), name="one_import_part_a_number")],
            },
        ),
        migrations.CreateModel(
            name="Attachment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "number",
                    models.PositiveSmallIntegerField(
                        default=0, help_text="Order within the message, from 1; 0: not sent yet"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("image", "Image"), ("file", "File"), ("paste", "Pasted text")], max_length=5
                    ),
                ),
                ("name", models.CharField(help_text="Original file name", max_length=255)),
                ("media_type", models.CharField(max_length=100)),
                ("size", models.PositiveIntegerField(help_text="Bytes as uploaded")),
                ("content", models.BinaryField(help_text="Images as sent to the model; other files as uploaded")),
                ("text", models.TextField(blank=True, help_text="What the model reads of a file or paste")),
                ("width", models.PositiveIntegerField(default=0, help_text="Pixels; 0: not an image")),
                ("height", models.PositiveIntegerField(default=0, help_text="Pixels; 0: not an image")),
                ("tokens", models.PositiveIntegerField(default=0, help_text="Base count")),
                ("content_hash", models.CharField(help_text="SHA-256 of the uploaded bytes", max_length=64)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "message",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="attachments",
                        to="chat.message",
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
                "ordering": ["number", "id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("message__isnull", True)), fields=["created_at"], name="attachment_unsent"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Project",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=80)),
                (
                    "path",
                    models.CharField(
                        help_text="Folder, such as /projects/garden",
                        max_length=500,
                        validators=[memory.models.paths.is_path],
                    ),
                ),
                ("instructions", models.TextField(blank=True, help_text="Added to the prompt of its conversations")),
                (
                    "only_project",
                    models.BooleanField(default=False, help_text="New conversations recall from this project only"),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("archived_at", models.DateTimeField(blank=True, null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
                "constraints": [models.UniqueConstraint(fields=("user", "path"), name="one_project_a_folder")],
            },
        ),
        migrations.AlterField(
            model_name="conversation",
            name="active_leaf",
            field=models.ForeignKey(
                blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="chat.message"
            ),
        ),
    ]
