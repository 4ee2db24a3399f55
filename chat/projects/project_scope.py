"""What may a conversation of a project be given? The project's memories first, or with “only this project” none else.

What belongs to a project: the documents in its folder, what was said in its conversations, and what was learned there.
The profile and the boundaries stand in every prompt, whatever the project: they are about the person.
"""

from __future__ import annotations

from typing import Final

from chat.models import Conversation, Project
from memory.documents.artifacts import FOLDER as ARTIFACTS
from memory.documents.profile import FOLDER as PROFILE
from memory.documents.tree import fitting_name, join_path

STANDS_ANYWAY: Final = PROFILE
"""The folder that a conversation with “only this project” may read, too: it stands in its prompt."""


def project_of(conversation: Conversation) -> Project | None:
    """The project it belongs to; one that was deleted stands for none."""
    if not conversation.scope:
        return None
    return Project.objects.for_user(conversation.user).filter(path=conversation.scope).first()


def only_scope(conversation: Conversation) -> str:
    """The path that everything recalled in it must belong to; empty: it may come from anywhere."""
    return conversation.scope if conversation.only_project else ""


def may_read(conversation: Conversation, path: str) -> bool:
    """Whether the model may open the document at `path`: with “only this project” one of the project's.

    What the conversation's own tools have kept may be opened always: its history names it.
    """
    scope = only_scope(conversation)
    own_results = join_path(ARTIFACTS, fitting_name(str(conversation.pk)))
    return not scope or any(is_below(path, folder) for folder in (scope, STANDS_ANYWAY, own_results))


def is_below(path: str, folder: str) -> bool:
    """Whether a path is the folder itself, or stands in it."""
    return path == folder or path.startswith(f"{folder}/")
