"""The chat page around its messages: the conversation list, the header, and the user's own conversation or a 404."""

from typing import Any, Final
from uuid import UUID

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone

from accounts.models import User
from chat.conversations.listing import ConversationList, conversation_list, parse_list_query
from chat.messages.rendering import librarian_line
from chat.models import Conversation
from chat.pages.compacted_turns import compaction_status
from recall.views import signed_in_user

PAGE: Final = "chat/page.html"

EXAMPLES: Final = (
    "My sister Mary lives in Lisbon and I'm allergic to peanuts.",
    "What do you know about me?",
    "Where does my sister live?",
)
"""Prompts offered in an empty chat: one to learn from, two that show what was learned."""


def get_own_conversation(user: User, pk: UUID) -> Conversation:
    """The user's conversation with its role.

    Raises:
        Http404: there is none, or it was deleted.
    """
    own = Conversation.objects.not_deleted().for_user(user).select_related("user", "role")
    found: Conversation = get_object_or_404(own, pk=pk)
    return found


def list_for(request: HttpRequest) -> ConversationList:
    """The conversation list as the URL's query asks for it."""
    return conversation_list(signed_in_user(request), timezone.now(), parse_list_query(request.GET))


def header_context(conversation: Conversation) -> dict[str, Any]:
    """The context of the header and of the compaction status."""
    librarian, compaction = librarian_line(conversation), compaction_status(conversation)
    return {"conversation": conversation, "librarian": librarian, "compaction": compaction}


# First visit -------------------------------------------------------------------------------------------------------


def is_first_visit(user: User) -> bool:
    """Whether the empty chat shows the welcome text: until it is closed, or a conversation exists."""
    return user.welcomed_at is None and not Conversation.objects.for_user(user).exists()


def close_welcome(user: User) -> None:
    """Record when the welcome text was first closed."""
    User.objects.filter(pk=user.pk, welcomed_at=None).update(welcomed_at=timezone.now())
