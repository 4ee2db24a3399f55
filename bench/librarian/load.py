"""Waiting time of conversations for the librarian when many end at once, and the cost of reading one.

    .venv/bin/python -m bench.librarian.load [--rate 20] [--seconds 10] [--model]

On a throw-away server: `--rate` conversations per second end for `--seconds`, each with four turns, from fifty users;
the Celery worker of the default installation takes them from the queue in PostgreSQL. It prints how old the runs are
when they finish, p50 and p95: an upper bound of their age at the first attempt (target: p95 within 30 s). With
`--model`, the model engine reads instead of the rules, against the offline server, whose unscripted answer is empty:
its tokens are the minimum that a conversation costs.
"""

import statistics
import time
from contextlib import ExitStack
from typing import Any, Final

from bench.own_database import own_database
from bench.results import Figures, arguments, record
from bench.servers import free_port, process, server

SAID: Final = (
    "Hi! I'm planning our summer and could use some help with the route.",
    "I live in Porto and I work as a nurse, so I can only travel in July.",
    "My sister Mary lives in Lisbon and I'm allergic to peanuts.",
    "I like quiet beaches, and I don't like long drives. What would you suggest?",
)
ANSWER: Final = "That sounds lovely. " * 40
PEOPLE: Final = 50
BOOKED: Final = ("input_tokens", "output_tokens", "cost")
WORKER: Final = (
    *("celery", "--quiet", "--app", "recall", "worker", "--pool", "threads", "--loglevel", "error"),
    *("--without-gossip", "--without-mingle", "--without-heartbeat", "--hostname", "worker@bench"),
)
"""The same as in `recall/process/startup.py`, without beat."""


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rate", type=int, default=20, help="conversations that end each second")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--model", action="store_true", help="read with the model engine, against the offline server")
    options = parser.parse_args()
    port = free_port()
    with ExitStack() as stack:
        engine = "model" if options.model else "rules"
        stack.enter_context(own_database(LIBRARIAN_ENGINE=engine, OFFLINE_PORT=str(port)))
        if options.model:
            stack.enter_context(server("offline.app:app", port))
        from recall.process.startup import WORKER_THREADS

        stack.enter_context(process(*WORKER, "--concurrency", str(WORKER_THREADS)))
        figures = measure(options.rate, options.seconds)
    if options.record:
        record(f"librarian.load.{engine}", figures)


def measure(rate: int, seconds: int) -> Figures:
    """Let the conversations end while the worker reads, and print the results."""
    from chat.ingest.librarian_triggers import end
    from chat.models import Conversation
    from memory.models import LibrarianRun

    end(Conversation.objects.get(pk=_talk(0)))  # starts the worker and loads what it needs
    _until_read(150)
    LibrarianRun.objects.all().delete()
    talks = [_talk(number) for number in range(rate * seconds)]
    began = time.monotonic()
    for number, pk in enumerate(talks):
        time.sleep(max(0.0, began + number / rate - time.monotonic()))
        end(Conversation.objects.get(pk=pk))
    print(f"ended within    {time.monotonic() - began:6.2f} s")
    _until_read(240)
    return report(list(LibrarianRun.objects.all()))


def _until_read(seconds: float) -> None:
    from memory.models import LibrarianRun

    deadline = time.monotonic() + seconds
    while LibrarianRun.objects.filter(state__in=["pending", "running"]).exists():
        time.sleep(0.25)
        if time.monotonic() > deadline:
            raise SystemExit("It was not done in time.")


def _talk(number: int) -> Any:
    """A conversation that is about to end."""
    from django.utils import timezone

    from accounts.models import User
    from chat.models import Conversation, Message

    user, _ = User.objects.get_or_create(
        email=f"bench{number % PEOPLE}@example.org", defaults={"preferred_name": "Sam"}
    )
    conversation = Conversation.objects.create(user=user, next_seq=2 * len(SAID) + 1, last_activity_at=timezone.now())
    leaf = None
    for turn, text in enumerate(SAID, start=1):
        for role, event, words in (("user", "user_message", text), ("assistant", "assistant_response", ANSWER)):
            leaf = Message.objects.create(
                user=user, conversation=conversation, seq=2 * turn - (role == "user"), parent=leaf, turn=turn,
                role=role, event_type=event, text=words,
            )  # fmt: skip
    Conversation.objects.filter(pk=conversation.pk).update(active_leaf=leaf)
    return conversation.pk


def report(runs: list[Any]) -> Figures:
    """Print the ages and the cost."""
    ages = sorted((run.finished_at - run.created_at).total_seconds() for run in runs)
    median, late = statistics.median(ages), ages[int(0.95 * len(ages))]
    print(f"{len(runs)} conversations, {sum(run.state == 'done' for run in runs)} read")
    print(f"age when read   p50 {median:6.2f} s   p95 {late:6.2f} s")
    print(f"facts           {statistics.mean(run.learned + run.waiting for run in runs):.1f} a conversation")
    tokens_in, out, dollars = (statistics.mean(getattr(run, name) for run in runs) for name in BOOKED)
    print(f"cost            {tokens_in:.0f} tokens in, {out:.0f} out, {dollars:.6f} $ a conversation")
    return {
        "conversations": (len(runs), ""),
        "age, p50": (median, "s"),
        "age, p95": (late, "s"),
        "tokens in": (float(tokens_in), ""),
        "tokens out": (float(out), ""),
    }


if __name__ == "__main__":
    main()
