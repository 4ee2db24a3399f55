"""Time to open a long conversation: `python -m bench.pages.long_conversation`, in a throw-away database.

Server time of the page `/c/<id>`, including the session, by Django's test client: no network and no browser. The
answers are Markdown with code, a table and a formula. Cold: nothing has been rendered before; warm: opened again.
"""

import statistics
import time
from collections.abc import Mapping
from typing import Any

from bench.own_database import own_database
from bench.results import Figures, arguments, record

LENGTHS = (100, 1_000, 5_000)
OPENINGS = 30
ANSWER = """\
This is answer number {n}. The **first** thing is a list:

- one thing, with `code` in it
- another one, and $x_{{{n}}}^2$

```python
def answer(number: int) -> str:
    return f"answer {{number}}"
```

| name | value |
|---|--:|
| number | {n} |

And a last paragraph, which says a little more, so that it is about as long as answers are. {n}
"""


def main() -> None:
    options = arguments(__doc__).parse_args()
    with own_database():
        from django.conf import settings
        from django.test import Client

        user = make_user()
        client = Client(SERVER_NAME="localhost")
        client.force_login(user, backend=settings.AUTHENTICATION_BACKENDS[0])
        open_page(client, talk(user, 2))  # compiles the templates
        talks = {length: talk(user, length // 2) for length in LENGTHS}
        analyze()
        figures = measure(client, talks)
    if options.record:
        record("pages.long_conversation", figures, ratios_of(figures))


def ratios_of(figures: Figures) -> dict[str, float]:
    """What opening a longer one takes over what the shortest takes."""
    short, *longer = LENGTHS
    return {
        f"{length:,} messages over {short}": figures[f"{length:,} messages, cold, p50"][0]
        / figures[f"{short} messages, cold, p50"][0]
        for length in longer
    }


def analyze() -> None:
    """Let statements be planned again, now that tables have rows, as autovacuum would within a minute."""
    from django.db import connection

    from recall.db.acting import by

    with by("vacuum"), connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def measure(client: Any, talks: Mapping[int, Any]) -> Figures:
    """Print what opening, opening again and a message in the middle take. The lengths take turns, so that a busy moment
    of the machine is in each."""
    from recall.rendering import render

    middle = {length: one.messages.all()[length // 2].pk for length, one in talks.items()}
    figures: Figures = {}
    for name in ("cold", "again", "around its middle"):
        took: dict[int, list[float]] = {length: [] for length in LENGTHS}
        for _ in range(OPENINGS):
            for length, conversation in talks.items():
                if name == "cold":
                    render._CACHE._kept.clear()
                query = f"?at={middle[length]}" if name == "around its middle" else ""
                began = time.perf_counter()
                open_page(client, conversation, query)
                took[length].append((time.perf_counter() - began) * 1000)
        for length, taken in took.items():
            median, late = statistics.median(taken), statistics.quantiles(taken, n=20)[-1]
            print(f"{f'{length:,} messages, {name}':<34} p50 {median:4.0f} ms, p95 {late:4.0f} ms")
            figures |= {
                f"{length:,} messages, {name}, p50": (median, "ms"),
                f"{length:,} messages, {name}, p95": (late, "ms"),
            }
    return figures


def open_page(client: Any, conversation: Any, query: str = "") -> None:
    response = client.get(f"/c/{conversation.pk}{query}")
    assert response.status_code == 200, response.status_code


def talk(user: Any, turns: int) -> Any:
    """A conversation with this many turns."""
    from django.db.models import OuterRef, Subquery

    from chat.models import Conversation, Message

    conversation = Conversation.objects.create(user=user, title="A long talk", next_seq=2 * turns + 1)
    Message.objects.bulk_create(message(conversation, seq) for seq in range(1, 2 * turns + 1))
    said = Message.objects.filter(conversation=conversation)
    before = Message.objects.filter(conversation=conversation, seq=OuterRef("seq") - 1)
    said.filter(seq__gt=1).update(parent=Subquery(before.values("pk")[:1]))
    conversation.active_leaf_id = said.latest("seq").pk
    conversation.save()
    return conversation


def message(conversation: Any, seq: int) -> Any:
    from chat.models import Message

    turn, is_question = (seq + 1) // 2, seq % 2 == 1
    return Message(
        user_id=conversation.user_id,
        conversation=conversation,
        seq=seq,
        turn=turn,
        role="user" if is_question else "assistant",
        event_type="user_message" if is_question else "assistant_response",
        text=f"Question number {turn}?" if is_question else ANSWER.format(n=turn),
        tokens=10 if is_question else 150,
    )


def make_user() -> Any:
    from accounts.models import User

    return User.objects.create_user("reader@example.org", "a long enough password", preferred_name="Reader")


if __name__ == "__main__":
    main()
