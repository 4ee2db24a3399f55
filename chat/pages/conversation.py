"""The chat page around its messages: the conversation list, the header, and the user's own conversation or a 404."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone

from accounts.models import User
from chat.conversations.listing import ConversationList, conversation_list, parse_list_query
from chat.messages.rendering import librarian_line
from chat.models import Conversation, Message
from chat.pages.compacted_turns import compaction_status
from memory.models import Fact
from memory.models.kinds import Kind
from recall.views import signed_in_user

PAGE: Final = "chat/page.html"

STARTERS: Final = ("I live in …", "What do you know about me?", "What can you do?")
"""Messages offered on a first visit; the dots are for the user to complete. Without dots, a click sends it."""

FEW_MESSAGES: Final = 5
"""Messages up to which the empty chat welcomes a user that Recall knows nothing about."""

LISTED: Final = 3
"""Conversations, and open goals, that the empty chat lists."""


def get_own_conversation(user: User, pk: UUID) -> Conversation:
    """The user's conversation with its role.

    Raises:
        Http404: there is none, or it was deleted.
    """
    owned = Conversation.objects.not_deleted().for_user(user).select_related("user", "role")
    found: Conversation = get_object_or_404(owned, pk=pk)
    return found


def list_for(request: HttpRequest) -> ConversationList:
    """The conversation list as the URL's query asks for it."""
    return conversation_list(signed_in_user(request), timezone.now(), parse_list_query(request.GET))


def header_context(conversation: Conversation) -> dict[str, Any]:
    """The context of the header and of the compaction status."""
    librarian, compaction = librarian_line(conversation), compaction_status(conversation)
    return {"conversation": conversation, "librarian": librarian, "compaction": compaction}


# The empty chat ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Welcome:
    """What the empty chat shows: starters at first, the latest conversations, and open goals."""

    conversations: Sequence[Conversation]
    goals: Sequence[Fact]
    is_first: bool
    starters: Sequence[str] = STARTERS


def welcome_for(user: User) -> Welcome:
    """What the user's empty chat shows."""
    owned = Conversation.objects.not_deleted().for_user(user).exclude(active_leaf=None).order_by("-last_activity_at")
    goals = Fact.objects.for_user(user).active().filter(kind=Kind.GOAL).order_by("-importance", "-recorded_at")
    return Welcome(list(owned.filter(archived_at=None)[:LISTED]), list(goals[:LISTED]), is_first=_is_new(user))


def _is_new(user: User) -> bool:
    """Whether Recall knows nothing about the user, who has written only a few messages."""
    if Fact.objects.for_user(user).exists():
        return False
    said = Message.objects.not_deleted().for_user(user).filter(role=Message.Role.USER)
    return said[: FEW_MESSAGES + 1].count() <= FEW_MESSAGES
