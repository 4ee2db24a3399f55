"""Memory's Celery tasks: each calls one function, for the owner of a row or by the clock."""

import contextlib
import logging
from uuid import UUID

from celery import shared_task
from django.core.exceptions import ObjectDoesNotExist
from django.utils import timezone

from accounts.models import User
from memory import trash
from memory.consolidation import consolidate as consolidation
from memory.consolidation import jobs
from memory.documents import uploads
from memory.forgetting import rewrite, verify
from memory.index import indexer, language_change, large_collections
from memory.librarian import document_updates, run
from recall.celery import enqueue_on_commit
from recall.db.acting import by, for_owner_of, for_user_named

logger = logging.getLogger(__name__)


@shared_task(name="memory.tasks.read")
@for_owner_of("memory.LibrarianRun")
def read(run_id: int) -> None:
    """Carry out a librarian run."""
    run.run_extraction(run_id)


@shared_task(name="memory.tasks.requeue_stale_runs")
@by("clock")
def requeue_stale_runs() -> None:
    """Queue the runs that are due, or whose worker died."""
    run.RUNS.requeue_due()


@shared_task(name="memory.tasks.file_conversation")
@for_user_named
def file_conversation(user_id: int, conversation_id: str) -> None:
    """Write the digest of an ended conversation, if its user still exists."""
    user = User.objects.filter(pk=user_id).first()
    if user is not None:
        document_updates.write_ended(user, UUID(conversation_id))


@shared_task(name=indexer.INDEX_TASK)
@for_owner_of("chat.Conversation")
def index_conversation(conversation_id: str) -> None:
    """Index a conversation; a deleted one no longer has chunks."""
    with contextlib.suppress(ObjectDoesNotExist):
        indexer.index_conversation(UUID(conversation_id))


@shared_task(name="memory.tasks.embed")
@by("clock")
def embed() -> None:
    """Embed rows without a vector, for a limited time; the scheduler runs it again."""
    indexer.embed_pending()


@shared_task(name=language_change.TASK)
@for_user_named
def reword(user_id: int) -> None:
    """Rebuild the search vectors of a user who changed their language."""
    language_change.rebuild_search_vectors(user_id)


@shared_task(name="memory.tasks.reword_due")
@by("clock")
def reword_due() -> None:
    """Queue users whose search vectors are not all in their language."""
    for user_id in language_change.due():
        language_change.request_rebuild(user_id)


@shared_task(name="memory.tasks.consolidate")
@by("clock")
def consolidate() -> None:
    """Consolidate everyone's memory: one task per user, so that one failure doesn't stop the others."""
    for user_id in consolidation.users_to_consolidate().values_list("pk", flat=True):
        enqueue_on_commit("memory.tasks.consolidate_one", user_id)


@shared_task(name="memory.tasks.consolidate_one")
@for_user_named
def consolidate_one(user_id: int) -> None:
    """Consolidate one user's memory, if the account still exists."""
    user = User.objects.filter(pk=user_id).first()
    if user is not None:
        report = jobs.run_consolidation(user, jobs.How.NIGHTLY, timezone.now())
        logger.info("Consolidated the memory of user %s: %s", user_id, " ".join(report.sentences()))


@shared_task(name=jobs.TASK)
@for_owner_of("memory.Consolidation")
def tidy(consolidation_id: int) -> None:
    """Run a consolidation that a user requested."""
    jobs.run_requested(consolidation_id, timezone.now())


@shared_task(name="memory.tasks.requeue_waiting_consolidations")
@by("clock")
def requeue_waiting_consolidations() -> None:
    """Queue the consolidations that still wait."""
    jobs.requeue_waiting(timezone.now())


@shared_task(name=uploads.TASK)
@for_owner_of("memory.Upload")
def read_upload(upload_id: int) -> None:
    """Make a document of an uploaded file."""
    uploads.process_upload(upload_id)


@shared_task(name="memory.tasks.requeue_stale_uploads")
@by("clock")
def requeue_stale_uploads() -> None:
    """Queue the files that wait, or whose worker died."""
    uploads.UPLOADS.requeue_due()


@shared_task(name="memory.tasks.empty_trash")
@by("clock")
def empty_trash() -> None:
    """Remove the documents that were deleted half an hour ago."""
    trash.empty(timezone.now())


@shared_task(name="memory.tasks.refresh_personal_indexes")
@by("index builds")
def refresh_personal_indexes() -> None:
    """Build, refresh or drop the indexes of large collections."""
    large_collections.refresh_due(timezone.now())


@shared_task(name=rewrite.TASK)
@for_owner_of("memory.Forgetting")
def rewrite_summaries(receipt_id: int) -> None:
    """Regenerate the summaries that a forgetting dropped."""
    rewrite.rewrite(receipt_id)


@shared_task(name="memory.tasks.requeue_rewriting")
@by("clock")
def requeue_rewriting() -> None:
    """Queue the summaries that aren't regenerated yet."""
    rewrite.requeue()


@shared_task(name=verify.VACUUM_TASK)
@by("vacuum")
def vacuum_forgotten() -> None:
    """Vacuum the tables with forgotten rows."""
    verify.vacuum()
