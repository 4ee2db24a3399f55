"""The tool `read_document`: a document by its path, or an earlier tool result by its reference."""

import re
from typing import Final

from accounts.models import User
from chat.models import Conversation, Message
from chat.projects.project_scope import can_read
from chat.tools.tool import NOTE, Tool, ToolInput, ToolInputError, ToolResult, define, get_int, get_text
from chat.turn import AcceptedTurn
from memory.models import Document
from memory.secrets.secrets_filter import mask_secrets

MAX_DOCUMENT: Final = 20_000
"""Characters of a document that one call returns."""
_REFERENCE: Final = re.compile(r"result:(\d{1,18})\.(\d{1,4})")


def result_reference(answer_id: int, number: int) -> str:
    """The reference by which `read_document` opens the result of the answer's n-th tool call; the first is 1."""
    return f"result:{answer_id}.{number}"


def read_document(turn: AcceptedTurn, arguments: ToolInput) -> ToolResult:
    """One of the user's own documents, by its path; with “only this project”, one that belongs to it."""
    path = get_text(arguments, "path")
    if result := _REFERENCE.fullmatch(path):
        return _read_earlier_result(turn.conversation, int(result[1]), int(result[2]), arguments)
    if not can_read(turn.conversation, path):
        raise ToolInputError(
            f"There is no document at {path} in this project, and this conversation reads nothing else."
        )
    return read_own_document(turn.conversation.user, arguments)


def read_own_document(user: User, arguments: ToolInput) -> ToolResult:
    """A piece of one of the user's own documents, by its path."""
    path = get_text(arguments, "path")
    document = Document.objects.for_user(user).filter(path=path).first()
    if document is None:
        raise ToolInputError(f"There is no document at {path}.")
    return _piece(path, document.display_text, arguments) | {"title": document.title}


def _read_earlier_result(conversation: Conversation, answer_id: int, number: int, arguments: ToolInput) -> ToolResult:
    """A piece of a result; if it has since been moved into a document, of that document."""
    events = Message.objects.for_user(conversation.user).filter(conversation=conversation, parent=answer_id)
    results = events.filter(event_type=Message.Event.TOOL_RESULT).order_by("seq").values_list("text", "event_data")
    row = results[number - 1 : number].first() if number else None
    if row is None:
        raise ToolInputError("There is no such result in this conversation.")
    text, event_data = row
    if moved_to := event_data.get("artifact"):
        return read_own_document(conversation.user, {**arguments, "path": moved_to})
    return _piece(result_reference(answer_id, number), text, arguments)


def _piece(path: str, text: str, arguments: ToolInput) -> ToolResult:
    text = mask_secrets(text, is_own=False)  # documents and results of tools
    start = get_int(arguments, "start", default=0, minimum=0, maximum=len(text))
    piece = text[start : start + MAX_DOCUMENT]
    rest = {"next_start": start + len(piece)} if start + len(piece) < len(text) else {}
    return {"note": NOTE, "path": path, "text": piece} | rest


READ_DOCUMENT: Final = Tool(
    define(
        "read_document",
        (
            "Read a document of the person's knowledge base, such as /profile/goals, or what a tool returned earlier "
            "in this conversation, by where it is kept, such as result:345.1; a long one in pieces."
        ),
        {
            "path": {"type": "string", "description": "The document's path, beginning with a slash; or result:…"},
            "start": {"type": "integer", "description": "Character to read on from; default 0"},
        },
        required=["path"],
    ),
    run=read_document,
    scope="memory:read",
)
