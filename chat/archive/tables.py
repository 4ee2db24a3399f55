"""Which tables make up an archive, and which columns stay behind? A test holds this against every model there is."""

from __future__ import annotations

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

REBUILT: Final = "made anew from the row's own words"
CLAIMED: Final = "of the worker that has it at the moment"
IMPLIED: Final = "the archive is one person's"


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
        without={"to_rewrite": "what is still to be written anew is work of the server that forgot"},
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
    PersonalIndex: "made anew when the collection is large enough",
    DeletedDocument: "deleted, and here only for as long as that can be undone",
    ApiKey: "a secret, of which only the hash is here: it opens this server and no other",
    ApiRate: "how fast a program asks at the moment",
    IdempotentRequest: "answers for a program that asks the same again soon: it asks this server",
    Authenticator: "a secret: it lets somebody in here, and is set up anew where they go",
    UserSession: "where somebody is signed in at the moment",
    ImportPart: "pieces of a file on its way in: the person has the file",
    Price: "the server's, not a person's",
    Calibration: "the server's, not a person's",
}
"""Models of Recall's, and of signing in, that no archive holds, and why."""

PERSON: Final = {
    "email": "told: the account that it comes to has its own",
    "preferred_name": "brought in",
    "time_zone": "brought in",
    "language": "brought in",
    "relationship_stage": "brought in",
    "chat_model": "brought in; what another server does not offer stands for nothing chosen",
    "effort": "brought in",
    "welcomed_at": "told",
    "date_joined": "brought in, where it is the earlier one: it counts for how long Recall has known the person",
    "last_login": "told",
}
"""Columns of the person that `person.json` holds."""
PERSON_LEFT_OUT: Final = {
    "words_in": "how far this server is with a change of the language",
    "id": "the archive is one person's",
    "password": "a secret",
    "is_superuser": "what somebody may do is decided where they are",
    "is_staff": "what somebody may do is decided where they are",
    "is_active": "what somebody may do is decided where they are",
}
