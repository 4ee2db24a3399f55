"""Tables and columns of an archive. A test compares this list with all models."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.db import models

from accounts.models import AccessLog, ApiKey, ApiRate, IdempotentRequest
from budget.models import BudgetPlan, Calibration, Limit, Price, ProfileSnapshot, Receipt, UsageDay
from chat.models import (
    Attachment,
    Compaction,
    Conversation,
    ImportJob,
    ImportPart,
    Message,
    Project,
    Role,
    Segment,
)
from memory.models import (
    Boundary,
    Chunk,
    Consolidation,
    DeletedDocument,
    Document,
    Episode,
    Fact,
    FactLink,
    ForgetList,
    Forgetting,
    KindPolicy,
    LibrarianRun,
    MessageChange,
    PersonalIndex,
    ReviewAction,
    Revision,
    Tombstone,
    Upload,
)

FORMAT: Final = "recall-archive"
MANIFEST: Final = "recall.json"
"""Distinguishes a Recall archive from other zips."""
VERSION: Final = 1
"""Raised when older versions can no longer read the format; `restore.py` reads all versions up to this one."""

Row = dict[str, Any]

BATCH: Final = 500
FILE_BATCH: Final = 4
"""For rows with a file: each may have 64 MB."""

REBUILT: Final = "rebuilt from the row's own words"
CLAIMED: Final = "the worker's lease"
IMPLIED: Final = "the archive is one user's"


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the archive."""

    model: type[models.Model]
    without: Mapping[str, str] = field(default_factory=dict)
    """Columns left out, each with the reason, besides `user` and generated columns."""
    refs: tuple[str, ...] = ()
    """Columns with references such as `fact:12`: JSON, or a text that is one reference."""
    marks: tuple[str, ...] = ()
    """Text columns whose lines may end with marks such as `^fact-12`."""
    final_states: Mapping[str, Mapping[Any, Any]] = field(default_factory=dict)
    """Column → state of unfinished work → its state in the archive."""
    is_export_only: bool = False
    """In the archive for the user to read; not restored."""
    order: tuple[str, ...] = ("pk",)
    batch: int = BATCH
    """Rows in memory at a time."""

    @property
    def label(self) -> str:
        """The model's label, such as `memory.fact`."""
        return str(self.model._meta.label_lower)

    @property
    def columns(self) -> list[models.Field[Any, Any]]:
        """Exported columns, primary key first."""
        fields = [field for field in self.model._meta.concrete_fields if field.name != "user" and not field.generated]
        return [field for field in fields if field.name not in self.without]


LEASE_COLUMNS: Final = {"claim": CLAIMED, "lease_until": CLAIMED}
VECTOR: Final = {"vector": REBUILT, "embedded_by": REBUILT}

TABLES: Final = (
    Table(Role),
    Table(Project),
    Table(Conversation, order=("started_at", "pk")),
    Table(
        Message,
        without={"process_key": "the web process that is writing it"},
        refs=("event_data",),
        final_states={"status": {"streaming": "interrupted"}},
    ),
    Table(Attachment, batch=FILE_BATCH),
    Table(Segment),
    Table(Compaction, without=LEASE_COLUMNS, final_states={"state": {"running": "pending"}}),
    Table(Boundary),
    Table(KindPolicy),
    Table(BudgetPlan),
    Table(Limit),
    Table(UsageDay),
    Table(Document, refs=("external_id",), marks=("text",)),
    Table(Revision, marks=("text",)),
    Table(
        Upload,
        without={"content": "a waiting file isn't read yet: upload it again", "lease_until": CLAIMED},
        final_states={"state": {"waiting": "failed", "reading": "failed"}},
    ),
    Table(MessageChange),
    Table(LibrarianRun, without=LEASE_COLUMNS, final_states={"state": {"running": "pending"}}),
    Table(Fact, without={**VECTOR, "search": REBUILT}),
    Table(FactLink),
    Table(ReviewAction),
    Table(Episode, without={**VECTOR, "search": REBUILT}),
    Table(Consolidation, final_states={"state": {"waiting": "failed"}}),
    Table(
        Forgetting,
        without={"to_rewrite": "the server that forgot does the rewriting"},
    ),
    Table(ForgetList),
    Table(Tombstone),
    Table(ProfileSnapshot, refs=("lines",)),
    Table(Receipt, refs=("items", "sections", "ingredients")),
    Table(Chunk, without={**VECTOR, "search": REBUILT}, marks=("text",)),
    Table(AccessLog, is_export_only=True),
    Table(ImportJob, without={**LEASE_COLUMNS, "not_before": CLAIMED}, is_export_only=True),
)
"""Ordered so that referenced rows mostly come first."""

BY_LABEL: Final = {table.label: table for table in TABLES}

LEFT_OUT: Final[Mapping[type[models.Model], str]] = {
    PersonalIndex: "rebuilt when the collection is large enough",
    DeletedDocument: "deleted, and kept only while that can be undone",
    ApiKey: "a secret, stored as a hash: valid on this server only",
    ApiRate: "current request rate",
    IdempotentRequest: "responses for repeated requests to this server",
    Authenticator: "a secret: set up again on the other server",
    UserSession: "current sessions",
    ImportPart: "parts of a file being imported: the user has the file",
    Price: "the server's, not a user's",
    Calibration: "the server's, not a user's",
}
"""Models of Recall and of sign-in that archives leave out, and why."""

USER_COLUMNS: Final = {
    "email": "informative: the new account has its own",
    "preferred_name": "imported",
    "time_zone": "imported",
    "language": "imported",
    "relationship_stage": "imported",
    "chat_model": "imported; the default if the new server does not offer it",
    "effort": "imported",
    "date_joined": "imported if earlier: it counts how long Recall has known the user",
    "last_login": "informative",
}
"""Columns of the user in `person.json`."""
USER_LEFT_OUT: Final = {
    "declined_offers": "digests that only this server can make",
    "words_in": "this server's progress with a language change",
    "id": "the archive is one user's",
    "password": "a secret",
    "is_superuser": "rights are granted by each server",
    "is_staff": "rights are granted by each server",
    "is_active": "rights are granted by each server",
}
