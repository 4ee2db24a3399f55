"""Which tables make up an archive, and which columns stay behind? A test holds this against every model there is."""

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
    Forgetting,
    KindPolicy,
    LibrarianRun,
    PersonalIndex,
    ReviewAction,
    Revision,
    Upload,
)

FORMAT: Final = "recall-archive"
MANIFEST: Final = "recall.json"
"""Distinguishes a Recall archive from other zips."""
VERSION: Final = 1
"""Raised when an older Recall could no longer read what is written; `bringing_in.py` reads all up to its own."""

Row = dict[str, Any]

AT_ONCE: Final = 500
FILES_AT_ONCE: Final = 4
"""Rows that hold a file: each may have 64 million bytes."""

REBUILT: Final = "rebuilt from the row's own words"
CLAIMED: Final = "of the worker that holds it"
IMPLIED: Final = "the archive is one user's"


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the archive."""

    model: type[models.Model]
    without: Mapping[str, str] = field(default_factory=dict)
    """Columns that stay behind, each with the reason; beside `user`, and what the database computes itself."""
    refs: tuple[str, ...] = ()
    """Columns in which rows are named as `fact:12`: JSON, or a text that is such a name as a whole."""
    marks: tuple[str, ...] = ()
    """Text columns whose lines may end with the librarian's marks, such as `^fact-12`."""
    settled: Mapping[str, Mapping[Any, Any]] = field(default_factory=dict)
    """Column → state of something under way → how it stands once its server is left behind."""
    is_only_told: bool = False
    """It stands in the archive for the person to read, and is not brought in."""
    order: tuple[str, ...] = ("pk",)
    at_once: int = AT_ONCE
    """Rows in memory."""

    @property
    def label(self) -> str:
        """Such as `memory.fact`."""
        return str(self.model._meta.label_lower)

    @property
    def columns(self) -> list[models.Field[Any, Any]]:
        """Those that are written, the key first."""
        own = [one for one in self.model._meta.concrete_fields if one.name != "user" and not one.generated]
        return [one for one in own if one.name not in self.without]


WORK: Final = {"claim": CLAIMED, "lease_until": CLAIMED}
VECTOR: Final = {"vector": REBUILT, "embedded_by": REBUILT}

TABLES: Final = (
    Table(Role),
    Table(Project),
    Table(Conversation, order=("started_at", "pk")),
    Table(
        Message,
        without={"process_key": "of the web process that writes it at the moment"},
        refs=("event_data",),
        settled={"status": {"streaming": "interrupted"}},
    ),
    Table(Attachment, at_once=FILES_AT_ONCE),
    Table(Segment),
    Table(Compaction, without=WORK, settled={"state": {"running": "pending"}}),
    Table(Boundary),
    Table(KindPolicy),
    Table(BudgetPlan),
    Table(Limit),
    Table(UsageDay),
    Table(Document, refs=("external_id",), marks=("text",)),
    Table(Revision, marks=("text",)),
    Table(
        Upload,
        without={"content": "a file that waits is not read yet: upload it again", "lease_until": CLAIMED},
        settled={"state": {"waiting": "failed", "reading": "failed"}},
    ),
    Table(LibrarianRun, without=WORK, settled={"state": {"running": "pending"}}),
    Table(Fact, without={**VECTOR, "search": REBUILT}),
    Table(FactLink),
    Table(ReviewAction),
    Table(Episode, without={**VECTOR, "search": REBUILT}),
    Table(Consolidation, settled={"state": {"waiting": "failed"}}),
    Table(
        Forgetting,
        without={"to_rewrite": "rewriting is work of the server that forgot"},
    ),
    Table(ProfileSnapshot, refs=("lines",)),
    Table(Receipt, refs=("items", "sections", "ingredients")),
    Table(Chunk, without={**VECTOR, "search": REBUILT}, marks=("text",)),
    Table(AccessLog, is_only_told=True),
    Table(ImportJob, without={**WORK, "not_before": CLAIMED}, is_only_told=True),
)
"""In an order in which what is named mostly comes before what names it."""

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

PERSON: Final = {
    "email": "informative: the new account has its own",
    "preferred_name": "imported",
    "time_zone": "imported",
    "language": "imported",
    "relationship_stage": "imported",
    "chat_model": "imported; the default if the new server does not offer it",
    "effort": "imported",
    "welcomed_at": "informative",
    "date_joined": "imported if earlier: it counts how long Recall has known the user",
    "last_login": "informative",
}
"""Columns of the user in `person.json`."""
PERSON_LEFT_OUT: Final = {
    "words_in": "this server's progress with a language change",
    "id": "the archive is one user's",
    "password": "a secret",
    "is_superuser": "rights are granted by each server",
    "is_staff": "rights are granted by each server",
    "is_active": "rights are granted by each server",
}
