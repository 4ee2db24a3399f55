"""What is stored of a user's memory: facts, documents, episodes, and the passages that make them searchable.

Enter at the models below; rules of one row are its methods, rules of many its QuerySet's. Every row belongs to a user
(`recall.db.ownership.OwnedManager`).

May import text and recall. Never imports another package of memory.
"""

from memory.models.boundaries import Boundary
from memory.models.consolidations import Consolidation
from memory.models.documents import DeletedDocument, Document, Revision, Upload
from memory.models.episodes import Episode
from memory.models.facts import GUARANTEED_IMPORTANCE, Fact, FactLink, ReviewAction
from memory.models.forgettings import Forgetting
from memory.models.indexed import Indexed
from memory.models.message_changes import MessageChange
from memory.models.passages import Chunk, PersonalIndex
from memory.models.policies import KindPolicy
from memory.models.runs import LibrarianRun
from memory.models.tombstones import ForgetList, Tombstone

__all__ = [
    "GUARANTEED_IMPORTANCE",
    "Boundary",
    "Chunk",
    "Consolidation",
    "DeletedDocument",
    "Document",
    "Episode",
    "Fact",
    "FactLink",
    "ForgetList",
    "Forgetting",
    "Indexed",
    "KindPolicy",
    "LibrarianRun",
    "MessageChange",
    "PersonalIndex",
    "ReviewAction",
    "Revision",
    "Tombstone",
    "Upload",
]
