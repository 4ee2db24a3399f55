"""Response times of a search over all conversations.

    .venv/bin/python -m bench.pages.conversation_search [--messages 100000] [--rounds 20]

On a throw-away server: one user with this many messages of 15 to 140 words, in conversations of forty, and half as many
of another user's. Word frequencies are natural (the n-th word is 1/n as frequent as the first), out of 30,000 words.
Each kind of search runs with `--rounds` different words; it prints the time for the page's first ten conversations, all
statements and snippets included, p50 and p95. The target is a p95 below 50 ms.
"""

import random
import statistics
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any, Final

from bench.own_database import own_database
from bench.results import Figures, arguments, record

WORDS: Final = 30_000
A_CONVERSATION: Final = 40
TARGET_MS: Final = 50.0


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    with own_database():
        figures = measure(options.messages, options.rounds)
    if options.record:
        record("pages.conversation_search", figures)


def measure(messages: int, rounds: int) -> Figures:
    """Fill the tables, search, and print the times."""
    from django.db import connection

    from recall.db.acting import by

    chance = random.Random(1)
    vocabulary = words(chance)
    mine, _ = person("mine", messages, vocabulary, chance), person("other", messages // 2, vocabulary, chance)
    with by("vacuum"), connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE chat_message")
        cursor.execute("VACUUM ANALYZE chat_conversation")
    print(f"{messages:,} messages; ms for a page of results")
    print(f"{'':34}{'p50':>7}{'p95':>7}{'found':>8}")
    figures: Figures = {"messages": (messages, "")}
    for name, make in kinds(vocabulary, chance).items():
        taken, found = timed(mine, [make() for _ in range(rounds)])
        late = statistics.quantiles(taken, n=20)[-1]
        print(f"{name:34}{statistics.median(taken):7.1f}{late:7.1f}{found:8.1f}{'  over' if late > TARGET_MS else ''}")
        figures |= {f"{name}, p50": (statistics.median(taken), "ms"), f"{name}, p95": (late, "ms")}
    return figures


def kinds(vocabulary: list[str], chance: random.Random) -> dict[str, Callable[[], str]]:
    """Kinds of searches, each as a function that makes a search."""

    def rank(low: int, high: int) -> str:
        return vocabulary[chance.randrange(low, high)]

    return {
        "a word of every second message": lambda: f"{rank(0, 8)} ",
        "a common word": lambda: f"{rank(20, 200)} ",
        "a rare word": lambda: f"{rank(5_000, WORDS)} ",
        "two common words": lambda: f"{rank(10, 100)} {rank(10, 100)} ",
        "three letters of a word": lambda: rank(20, WORDS)[:3],
        "one letter": lambda: rank(20, WORDS)[:1],
        "a phrase": lambda: f'"{rank(0, 10)} {rank(0, 10)}"',
        "a word that was never said": lambda: "xyzzyqq ",
    }


def timed(user: Any, searches: list[str]) -> tuple[list[float], float]:
    """Milliseconds of each search, and the mean number of conversations found."""
    from django.utils import timezone

    from chat.conversations.search import Filter, search

    search(user, "warm up", Filter(), timezone.now())
    taken: list[float] = []
    found = 0
    for typed in searches:
        began = time.perf_counter()
        found += search(user, typed, Filter(), timezone.now()).conversations
        taken.append((time.perf_counter() - began) * 1000)
    return taken, found / len(searches)


# What is searched ----------------------------------------------------------------------------------------------------


def words(chance: random.Random) -> list[str]:
    """Invented words, all different, the short ones first: common words are short."""
    syllables = [first + vowel for first in "bcdfghjklmnprstvwz" for vowel in "aeiou"]
    made: dict[str, None] = {}
    while len(made) < WORDS:
        length = 1 + len(made) // 40 if len(made) < 80 else chance.choice((2, 3, 3, 4))
        made["".join(chance.choices(syllables, k=length))] = None
    return list(made)


def person(name: str, messages: int, vocabulary: list[str], chance: random.Random) -> Any:
    """A user with this many messages."""
    from django.db.models import OuterRef, Subquery

    from accounts.models import User
    from chat.models import Conversation, Message

    user = User.objects.create_user(f"{name}@example.org", None, preferred_name=name)
    Message.objects.bulk_create(_messages(user, messages, vocabulary, chance), batch_size=2_000)
    last = Message.objects.filter(conversation=OuterRef("pk")).order_by("-seq").values("pk")[:1]
    Conversation.objects.filter(user=user).update(active_leaf=Subquery(last))
    return user


def _messages(user: Any, messages: int, vocabulary: list[str], chance: random.Random) -> Iterator[Any]:
    from django.utils import timezone

    from chat.models import Conversation, Message

    weights = [1 / (place + 1) for place in range(len(vocabulary))]
    stream = chance.choices(vocabulary, weights, k=2_000_000)
    now, identity = timezone.now(), _next_id()
    for number in range(messages):
        place = number % A_CONVERSATION
        if not place:
            at = now - timedelta(minutes=5) * ((messages - number) // 2)
            title = " ".join(stream[number * 7 % 1_900_000 :][:5])
            conversation = Conversation.objects.create(user=user, title=title, last_activity_at=at, next_seq=41)
        begin = chance.randrange(len(stream) - 200)
        is_question = place % 2 == 0
        yield Message(
            pk=identity + number,
            user=user,
            conversation=conversation,
            seq=place + 1,
            parent_id=identity + number - 1 if place else None,
            turn=place // 2 + 1,
            role=Message.Role.USER if is_question else Message.Role.ASSISTANT,
            event_type=Message.Event.USER_MESSAGE if is_question else Message.Event.ASSISTANT_RESPONSE,
            text=" ".join(stream[begin : begin + chance.randint(15, 40 if is_question else 140)]),
            created_at=at,
        )


def _next_id() -> int:
    from chat.models import Message

    newest = Message.objects.order_by("-pk").values_list("pk", flat=True).first()
    return (newest or 0) + 1


if __name__ == "__main__":
    main()
