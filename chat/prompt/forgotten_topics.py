"""Topics the user asked in a chat to forget: from then on not used in any conversation, until deleted or kept.

The message that asks stores the references of what it names (`event_data`), never words. Deleting is up to the user:
the link under the message opens the preview.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import Any, Final

from accounts.models import User
from chat.models import Message
from chat.prompt.ablation import MAX_SENTENCES, load_carriers, load_texts, words_pattern
from chat.turn import NO_EXCLUSION, WITHHOLDS, Exclusion
from memory.forget_requests.requests import ForgetRequest
from memory.forgetting.select import select_topic
from memory.models import Chunk, Fact
from memory.refs import ids_by_kind
from memory.text.parts import numbered_parts
from recall.db.prepared import PreparedQuery, Read

MAX_REQUESTS: Final = 50
"""Maximum open requests that are honored, the latest first: each adds sentences to the pattern that every text is
searched for."""


MAX_PARTS: Final = MAX_SENTENCES // 2
"""Maximum texts recognized by their words: with more, the pattern would miss some."""


def find_withheld(user: User, request: ForgetRequest, before: Message | None) -> list[str]:
    """References of what the request names: `fact:12`, or `message:5:1,2` for parts of a text.

    `before`: the answer before it; “that” means this answer and the user's message it answers.
    """
    if request.everything:
        return []
    if not request.topic:
        return [f"message:{before.parent_id}", f"message:{before.pk}"] if before is not None else []
    refs = [match.ref for match in select_topic(user, request.topic) if match.is_ticked]
    refs += _facts_of_parts(user, refs)
    documents = [int(ref.split(":")[1]) for ref in refs if ref.startswith("document:")]
    passages = Chunk.objects.for_user(user).filter(document__in=documents).only("pk", "kind") if documents else ()
    return [*refs, *(passage.ref for passage in passages)]


def _facts_of_parts(user: User, refs: Collection[str]) -> list[str]:
    """The facts that were read in the named parts of messages, in whatever words they are put."""
    parts = _load_parts(user, [ref for ref in refs if ref.count(":") == 2 and ref.startswith("message:")])
    facts = Fact.objects.for_user(user).filter(message__in=parts)
    return [fact.ref for fact in facts if any(fact.quote in part for part in parts[fact.message_id])]


_REQUESTS: Final[PreparedQuery[tuple[int, dict[str, Any]]]] = PreparedQuery(
    lambda user: (
        Message.objects.not_deleted()
        .filter(user=user, event_data__has_key=WITHHOLDS)
        .order_by("-pk")
        .values_list("pk", "event_data")[:MAX_REQUESTS]
    ),
    user=int,
)


def requests_read(user_id: int) -> Read:
    """What `load_forgotten` reads first."""
    return _REQUESTS.read(user=user_id)


def load_forgotten(user: User, asked_now: Message | None = None) -> Exclusion:
    """What the user's messages ask to forget, as an exclusion. `asked_now`: a message that may be newer than
    `requests_read`."""
    requests = _REQUESTS(user=user.pk)
    if asked_now is not None and WITHHOLDS in asked_now.event_data and asked_now.pk not in dict(requests):
        requests.insert(0, (asked_now.pk, asked_now.event_data))
    return _load_exclusion(user, requests)


def load_forgotten_then(user: User, asking: Collection[int]) -> Exclusion:
    """The same of only the messages with these ids."""
    found = Message.objects.not_deleted().for_user(user).filter(event_data__has_key=WITHHOLDS, pk__in=asking)
    return _load_exclusion(user, list(found.order_by("-pk").values_list("pk", "event_data")))


def _load_exclusion(user: User, requests: Sequence[tuple[int, dict[str, Any]]]) -> Exclusion:
    if not requests:
        return NO_EXCLUSION
    named = {ref for _, data in requests for ref in data[WITHHOLDS]}
    whole = {":".join(ref.split(":")[:2]) for ref in named}
    whole |= {f"message:{pk}" for pk, _ in requests}
    whole |= {*load_carriers(user.pk, [*whole])}
    partial = {ref for ref in named if ref.count(":") == 2 and ref.startswith("message:")}
    in_full = {ref for ref in named if ref.count(":") == 1 or ref.startswith("fact:")}
    parts = _load_parts(user, partial)
    for pk, quote in _quotes_of(user, whole):
        parts.setdefault(pk, []).append(quote)
    texts = [*load_texts(user.pk, [":".join(ref.split(":")[:2]) for ref in in_full]), *chain(*parts.values())]
    in_part = {f"message:{pk}" for pk, of_it in parts.items() if all(map(_is_told_by_words, of_it))} - in_full
    if len(texts) > MAX_PARTS:
        in_part = set()
    return Exclusion((), frozenset(whole - in_part), words_pattern(texts), tuple(pk for pk, _ in requests))


def _quotes_of(user: User, refs: Collection[str]) -> Iterator[tuple[int, str]]:
    """The messages that the named facts were learned from, and the words they were read in."""
    facts = Fact.objects.for_user(user).filter(pk__in=ids_by_kind(refs)["fact"]).exclude(quote="")
    stated = facts.values_list("message_id", "message__text", "quote")
    return ((pk, quote) for pk, text, quote in stated if pk is not None and quote in text)


def _is_told_by_words(part: str) -> bool:
    """Whether all of it is found by its words; else its message isn't recalled at all."""
    pattern = words_pattern([part])
    return pattern is not None and not re.search(r"\w", pattern.sub("", part))


def _load_parts(user: User, refs: Collection[str]) -> dict[int, list[str]]:
    """The texts of the named parts of messages, by message."""
    numbers: dict[int, set[int]] = {}
    for _, pk, parts in (ref.split(":") for ref in refs):
        numbers.setdefault(int(pk), set()).update(map(int, parts.split(",")))
    texts = Message.objects.for_user(user).filter(pk__in=numbers).values_list("pk", "text")
    return {pk: [text[part.start : part.end] for part in numbered_parts(text, numbers[pk])] for pk, text in texts}
