"""Celery tasks of the chat. Each calls one function, for the owner of a row or by the clock."""

from uuid import UUID

from celery import shared_task
from django.utils import timezone

from chat.attachments import drafts
from chat.compaction import jobs as compaction
from chat.conversations import retention, titles, trash
from chat.importing import jobs
from chat.ingest import librarian_triggers
from chat.turns import recovery
from recall.celery import enqueue_on_commit
from recall.db.acting import by, for_owner_of


@shared_task(name="chat.tasks.mark_abandoned_answers")
@by("clock")
def mark_abandoned_answers() -> None:
    """Mark answers whose web process died."""
    recovery.mark_abandoned_answers()


@shared_task(name="chat.tasks.note_idle_conversations")
@by("clock")
def note_idle_conversations() -> None:
    """Pause idle conversations, have them read, and compact those that have been idle for long."""
    librarian_triggers.pause_idle()
    compaction.request_where_quiet()


@shared_task(name="chat.tasks.index_what_was_missed")
@by("clock")
def index_what_was_missed(everywhere: bool = False) -> None:
    """Index messages that aren't in the index: of the latest, or of all."""
    librarian_triggers.queue_missing_indexes(everywhere=everywhere)


@shared_task(name=compaction.TASK)
@for_owner_of("chat.Compaction")
def compact(compaction_id: int) -> None:
    """Create one segment of a compaction."""
    compaction.run_compaction(compaction_id)


@shared_task(name="chat.tasks.requeue_stale_compactions")
@by("clock")
def requeue_stale_compactions() -> None:
    """Queue waiting compactions, and those whose worker died."""
    compaction.COMPACTIONS.requeue_due()


@shared_task(name=titles.TASK)
@for_owner_of("chat.Conversation")
def give_title(conversation_id: str) -> None:
    titles.give_title(UUID(conversation_id))


@shared_task(name="chat.tasks.empty_trash")
@by("clock")
def empty_trash() -> None:
    """Purge deleted conversations."""
    trash.purge(timezone.now())


@shared_task(name="chat.tasks.remove_what_is_old")
@by("clock")
def remove_what_is_old() -> None:
    """Apply retention: one task per rule, so that a failure doesn't stop the others."""
    for what in retention.What:
        enqueue_on_commit("chat.tasks.remove_old", what)


@shared_task(name="chat.tasks.remove_old")
@by("clock")
def remove_old(what: str) -> None:
    """Run one round of a rule, and queue the next while there is more."""
    if retention.apply(retention.What(what), timezone.now()):
        enqueue_on_commit("chat.tasks.remove_old", what)


@shared_task(name="chat.tasks.remove_old_drafts")
@by("clock")
def remove_old_drafts() -> None:
    """Delete attachments that were never sent."""
    drafts.remove_old_drafts()


@shared_task(name=jobs.TASK)
@for_owner_of("chat.ImportJob")
def import_conversations(job_id: int) -> None:
    """Read one stretch of an export."""
    jobs.run_import(job_id)


@shared_task(name="chat.tasks.requeue_stale_imports")
@by("clock")
def requeue_stale_imports() -> None:
    """Queue waiting imports, and those whose worker died."""
    jobs.IMPORTS.requeue_due()
