"""Project scope: what a conversation of a project may use. Its project's memories first, or only those.

A project's memories are the documents in its folder, and what was said and learned in its conversations. The profile
and boundaries are in every prompt: they are about the user.
"""

from typing import Final

from chat.models import Conversation, Project
from memory.documents.artifacts import FOLDER as ARTIFACTS
from memory.documents.profile import FOLDER as PROFILE
from memory.documents.tree import fitting_name, join_path

ALWAYS_READABLE: Final = PROFILE
"""A conversation restricted to its project may also read this folder: it is in its prompt."""


def project_of(conversation: Conversation) -> Project | None:
    """The conversation's project; None if it has none or it was deleted."""
    if not conversation.scope:
        return None
    return Project.objects.for_user(conversation.user).filter(path=conversation.scope).first()


def recall_scope(conversation: Conversation) -> str:
    """The path to which recall is restricted; empty: no restriction."""
    return conversation.scope if conversation.only_project else ""


def can_read(conversation: Conversation, path: str) -> bool:
    """Whether the model may open the document at `path`: with `only_project`, documents of the project.

    Results of the conversation's own tools may always be opened: its history names them.
    """
    scope = recall_scope(conversation)
    own_results = join_path(ARTIFACTS, fitting_name(str(conversation.pk)))
    return not scope or any(is_below(path, folder) for folder in (scope, ALWAYS_READABLE, own_results))


def is_below(path: str, folder: str) -> bool:
    """Whether a path is the folder itself or inside it."""
    return path == folder or path.startswith(f"{folder}/")
