"""What is stored of a person's memory: facts, documents, episodes, and the passages by which they are found."""

from memory.models.boundaries import Boundary
from memory.models.documents import Document, Revision, Upload
from memory.models.episodes import Episode
from memory.models.facts import GUARANTEED_IMPORTANCE, Fact, FactLink, ReviewAction
from memory.models.indexed import Indexed
from memory.models.passages import Chunk, PersonalIndex
from memory.models.runs import LibrarianRun

__all__ = [
    "GUARANTEED_IMPORTANCE",
    "Boundary",
    "Chunk",
    "Document",
    "Episode",
    "Fact",
    "FactLink",
    "Indexed",
    "LibrarianRun",
    "PersonalIndex",
    "ReviewAction",
    "Revision",
    "Upload",
]
