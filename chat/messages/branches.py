"""Branches of a conversation, and switching between them.

An edited question, or another answer, is a sibling of the earlier one: both are kept, and `Conversation.active_leaf`
says which branch is active. What depends on that:

- the index has only the messages of the active branch (`memory/index/indexer.py`);
- the librarian reads each message once, while its branch is active: unread messages of a branch that is left are marked
  PASSED_OVER, and read when the user returns to it;
- facts saved without asking from a branch that is left become proposals (`memory/librarian/branch_facts.py`);
- a segment belongs to every branch through its last message (`chat/messages/history.py`): nothing to do.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from django.db.models import F, Func, JSONField, Q, Value

from chat.models import Conversation, Message
from chat.turn import BESIDE
from memory.index.indexer import INDEX_TASK
from memory.librarian import branch_facts
from memory.models import Chunk, LibrarianRun
from recall.celery import enqueue_on_commit
from recall.db.notify import publish_event
from recall.db.prepared import PreparedQuery

KEPT: Final = "kept"
"""Key in the event data of a chosen trial, which is then a branch."""
PASSED_OVER: Final = "passed_over"
"""Key in the event data of a message whose branch was left before the librarian read it."""

SAID: Final = (Message.Event.USER_MESSAGE, Message.Event.ASSISTANT_RESPONSE)
IS_BRANCH: Final = Q(event_type__in=SAID) & (~Q(event_data__has_key=BESIDE) | Q(event_data__has_key=KEPT))
"""Questions and answers, without tool events and trials."""

_BELOW: Final = PreparedQuery(
    lambda user, conversation, parent: (
        Message.objects.filter(IS_BRANCH, parent=parent, conversation=conversation, user=user)
        .order_by("seq")
        .values_list("pk", "parent_id")
    ),
    user=int,
    conversation=UUID,
    parent=int,
)


# Links between messages: pure -------------------------------------------------------------------------------------


class Link(NamedTuple):
    """A message's place in the tree."""

    parent: int | None
    seq: int
    turn: int


type Links = Mapping[int, Link]
"""Links by message id, in order of arrival: parents come before their children."""


def path_to(links: Links, leaf: int | None) -> list[int]:
    """The messages that lead to this one, including itself, oldest first."""
    path: list[int] = []
    while leaf is not None and leaf in links:
        path.append(leaf)
        leaf = links[leaf].parent
    return path[::-1]


def newest_below(links: Links, message: int) -> int:
    """The end of the newest branch through this message: itself, if nothing follows it."""
    below, newest = {message}, message
    for pk, link in links.items():
        if link.parent in below:
            below.add(pk)
            newest = pk
    return newest


# Siblings ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Place:
    """A message's position among its siblings."""

    number: int
    """From 1, in order of arrival."""
    count: int
    previous: int | None
    """Id of the sibling before it."""
    next: int | None


def places(messages: Iterable[Message]) -> dict[int, Place]:
    """Positions of the messages that have siblings, by id. At most two statements."""
    shown = [message for message in messages if message.pk is not None and message.pk > 0]
    if not shown:
        return {}
    groups: dict[int | None, list[int]] = {}
    for pk, parent in _load_siblings(shown):
        groups.setdefault(parent, []).append(pk)
    return {pk: place for group in groups.values() if len(group) > 1 for pk, place in _numbered(group)}


def _load_siblings(messages: Sequence[Message]) -> Iterable[tuple[int, int | None]]:
    """Id and parent of all siblings, in order of arrival."""
    first = messages[0]
    parents = {message.parent_id for message in messages}
    if len(parents) == 1 and first.parent_id is not None:  # the usual case after a turn
        return _BELOW(user=first.user_id, conversation=first.conversation_id, parent=first.parent_id)
    below = Q(parent__in=[parent for parent in parents if parent is not None])
    if None in parents:
        below |= Q(parent__isnull=True, event_type=Message.Event.USER_MESSAGE)
    beside = Message.objects.filter(IS_BRANCH & below, conversation=first.conversation_id, user=first.user_id)
    return beside.order_by("seq").values_list("pk", "parent_id")


def _numbered(group: Sequence[int]) -> Iterable[tuple[int, Place]]:
    for at, pk in enumerate(group):
        following = group[at + 1] if at + 1 < len(group) else None
        yield pk, Place(at + 1, len(group), group[at - 1] if at else None, following)


def is_typed(message: Message) -> bool:
    """Whether the user wrote it: not a Continue, nor another person's message in an imported conversation."""
    is_question = message.event_type == Message.Event.USER_MESSAGE and "continues" not in message.event_data
    return is_question and not message.author


# Switching --------------------------------------------------------------------------------------------------------


def links_of(conversation: Conversation) -> dict[int, Link]:
    """The links of every branch of the conversation; texts aren't read. One statement."""
    rows = Message.objects.filter(IS_BRANCH, conversation=conversation, user=conversation.user_id).order_by("seq")
    return {pk: Link(*rest) for pk, *rest in rows.values_list("pk", "parent_id", "seq", "turn")}


def switch_branch(conversation: Conversation, links: Links, tip: int | None, *, takes_words_back: bool = True) -> None:
    """Leave the active branch for the one that leads to `tip` (None: an empty one).

    `takes_words_back`: what was said on the branch that is left is no longer assumed; not if the same is asked again.

    Within a transaction that has locked the conversation. The caller then sets `active_leaf` to `tip` or to a message
    below it.
    """
    before, after = path_to(links, conversation.active_leaf_id), path_to(links, tip)
    left, gained = _without(before, after), _without(after, before)
    if not left and not gained:
        return
    shared = after[: len(after) - len(gained)]
    _mark_unread(conversation, links, left)
    _resume_reading(conversation, links, gained, shared)
    if conversation.cut_until > (links[shared[-1]].turn if shared else 0):
        conversation.cut_from = conversation.cut_until = 0  # those turns aren't on this branch
    conversation.save(update_fields=["librarian_watermark", "cut_from", "cut_until"])
    # Delete the old branch's chunks now, so that retrieval can't return them; the task indexes the new branch.
    Chunk.objects.filter(conversation=conversation, kind=Chunk.Kind.MESSAGE, message__in=left).delete()
    enqueue_on_commit(INDEX_TASK, str(conversation.pk))
    if takes_words_back:
        branch_facts.demote_facts(conversation.user, left)
    branch_facts.reactivate_facts(conversation.user, gained)


def notify_branch_switched(conversation: Conversation) -> None:
    """On commit, have pages that show another branch of the conversation fetch it again."""
    end = conversation.active_leaf_id or 0
    publish_event(f"user-{conversation.user_id}", "branch", conversation=str(conversation.pk), message=end)


def _without(path: Sequence[int], other: Collection[int]) -> list[int]:
    known = set(other)
    return [pk for pk in path if pk not in known]


def _mark_unread(conversation: Conversation, links: Links, left: Sequence[int]) -> None:
    """Mark the unread messages of the branch that is left, and delete pending librarian runs that would read them."""
    if not left:
        return
    waiting = LibrarianRun.objects.filter(
        conversation=conversation, state=LibrarianRun.State.PENDING, attempts=0, last_seq__gte=links[left[0]].seq
    )
    begins = list(waiting.values_list("first_seq", flat=True))
    waiting.delete()
    conversation.librarian_watermark = min(conversation.librarian_watermark, *(first - 1 for first in begins), 2**31)
    unread = [pk for pk in left if links[pk].seq > conversation.librarian_watermark]
    mark = Func(F("event_data"), Value({PASSED_OVER: True}, JSONField()), template="%(expressions)s", arg_joiner=" || ")
    Message.objects.filter(pk__in=unread).update(event_data=mark)


def _resume_reading(conversation: Conversation, links: Links, gained: Sequence[int], shared: Sequence[int]) -> None:
    """Set the librarian's watermark before the first unread message of this branch."""
    if not gained:
        return
    marked = Message.objects.filter(pk__in=gained, event_data__has_key=PASSED_OVER)
    unread = [links[pk].seq for pk in marked.values_list("pk", flat=True)]
    unread += [links[pk].seq for pk in shared if links[pk].seq > conversation.librarian_watermark]
    conversation.librarian_watermark = min(unread, default=conversation.next_seq) - 1
    unmarked = Func(F("event_data"), Value(PASSED_OVER), template="%(expressions)s", arg_joiner=" - ")
    marked.update(event_data=unmarked)
