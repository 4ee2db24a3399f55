"""Time to first token, and answers per second on one core.

    .venv/bin/python -m bench.turn [--turns 100] [--facts 1000] [--record]
    .venv/bin/python -m bench.turn --compiles 1000 [--facts 1000]
    .venv/bin/python -m bench.turn --row-security 5 [--record]

The web process is pinned to the first core; PostgreSQL, the model (the offline server, without a pause) and the load
share the second. 1, 10 and 50 users ask at once; each has `--facts` facts, so retrieval is in every turn; answers have
25 words. A bare relay of the SDK's stream (`bench/turn/relay.py`) is measured in the same run, pinned the same way, and
the ratio is printed. "First token" is the time from sending the question to the first delta, as seen by the client;
"cpu ms" is the web process's processor time per turn: its cost even on a busy machine.

With `--compiles`, no server is loaded: one conversation grows by this many turns of real text
(`bench/retrieval/real_texts.py`), stored, indexed and compacted as for real, and the assembly of each prompt, retrieval
included, is timed. With `--row-security`, ten users ask at once, so many times with its policies and without in turn.
"""

import asyncio
import json
import os
import statistics
import time
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

import psutil

from bench.own_database import OTHER_CORE, own_database, policies_off
from bench.results import Figures, arguments, percentiles, record
from bench.servers import free_port, server

AT_ONCE: Final = (1, 10, 50)
WORDS: Final = 25
NEW_CONVERSATION_AFTER: Final = 5  # turns: a mix of first and later turns
WALLED: Final = 10
"""Users who ask at once while row security is compared."""
WARM_UP: Final = 3  # turns of each client that don't count
WEB_CORE: Final = 0
COLUMNS: Final = ("first p50", "first p95", "whole p50", "whole p95", "turns/s", "cpu ms")
QUESTIONS: Final = (
    "Where does my sister live?",
    "Which city is Mary in?",
    "What city does my sister live in?",
    "Where is Mary's home?",
    "Where does Mary live?",
)
"""Asked in turn; the same question again and again would find itself."""


# The people ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Person:
    """A user who asks, with their session cookie."""

    cookie: str


def make_people(how_many: int, facts: int) -> list[Person]:
    """Signed-in users, each with this many facts; the vectors are random except for a few real ones."""
    import numpy as np
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    from accounts.models import User
    from memory.embeddings.port import embedder
    from memory.models import Fact

    random, people = np.random.default_rng(1), []
    statement = "The user's sister Mary lives in Lisbon."
    real = embedder().embed([statement])[0]
    for number in range(how_many):
        user = User.objects.create_user(f"bench{number}@example.org", None, preferred_name="Bench")
        vectors = random.normal(size=(facts, 384)).astype("float32")
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        rows = [
            Fact(
                user=user, status="active", kind="fact", statement=f"The user once saw place {n} with friend {n % 97}.",
                vector=vectors[n], embedded_by=embedder().name,
            )
            for n in range(facts - 1)
        ]  # fmt: skip
        rows.append(
            Fact(
                user=user, status="active", kind="person", statement=statement, vector=real, embedded_by=embedder().name
            )
        )
        Fact.objects.bulk_create(rows, batch_size=500)
        session = SessionStore()
        session[SESSION_KEY], session[HASH_SESSION_KEY] = str(user.pk), user.get_session_auth_hash()
        session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
        session.create()
        people.append(Person(f"{settings.SESSION_COOKIE_NAME}={session.session_key}"))
    from django.db import connection

    from recall.db.acting import by

    with by("vacuum"), connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return people


# The load --------------------------------------------------------------------------------------------------------


@dataclass
class Seen:
    """What the clients saw, in milliseconds, and the total time, in seconds."""

    first_token: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    seconds: float = 0.0
    cpu: float = 0.0
    """Processor seconds of the web process: the cost of a turn however busy the machine is."""

    @property
    def turns_a_second(self) -> float:
        return len(self.whole) / self.seconds

    def row(self, name: str) -> str:
        return f"{name:<14} " + " ".join(f"{figure:>9.1f}" for figure in self.figures())

    def figures(self) -> tuple[float, ...]:
        """In the order of COLUMNS."""
        whole = percentiles(self.whole)
        return (*percentiles(self.first_token), *whole, self.turns_a_second, self.cpu * 1000 / len(self.whole))

    def named(self, name: str) -> Figures:
        units = ("ms", "ms", "ms", "ms", "turns/s", "ms")
        return {
            f"{name}, {column.removesuffix(' ms')}": (figure, unit)
            for column, figure, unit in zip(COLUMNS, self.figures(), units, strict=True)
        }


async def ask_as(person: Person, port: int, path: str, turns: int, seen: Seen, ready: asyncio.Barrier) -> None:
    """One client: `turns` questions, one after the other."""
    from websockets.asyncio.client import connect

    origin = f"http://127.0.0.1:{port}"
    headers = {"Cookie": person.cookie}
    async with connect(f"ws://127.0.0.1:{port}{path}", additional_headers=headers, origin=origin, max_size=None) as ws:  # type: ignore[arg-type]
        conversation: str | None = None
        for number in range(turns + WARM_UP):
            if number == WARM_UP:
                await ready.wait()
            if number % NEW_CONVERSATION_AFTER == 0:
                conversation = None
            began = time.perf_counter()
            frame = {"v": 1, "type": "send", "client_id": str(uuid4()), "conversation": conversation}
            await ws.send(json.dumps({**frame, "text": QUESTIONS[number % len(QUESTIONS)]}))
            first, conversation = await receive_answer(ws, began, conversation)
            if number >= WARM_UP:
                seen.first_token.append(first)
                seen.whole.append((time.perf_counter() - began) * 1000)


async def receive_answer(ws: Any, began: float, conversation: str | None) -> tuple[float, str | None]:
    """Read until `done`; return the milliseconds until the first delta, and the conversation."""
    first = 0.0
    async for text in ws:
        frame = json.loads(text)
        if frame["type"] == "delta" and not first:
            first = (time.perf_counter() - began) * 1000
        elif frame["type"] == "accepted":
            conversation = frame["conversation"]
        elif frame["type"] == "error":
            raise SystemExit(f"Refused: {frame['text']}")
        elif frame["type"] == "done":
            if frame.get("outcome", "complete") != "complete":
                raise SystemExit(f"The answer {frame['outcome']}.")
            return first, conversation
    raise SystemExit("The socket was closed.")


async def load(people: list[Person], port: int, path: str, turns: int, pid: int) -> Seen:
    """Let everyone ask at once, `turns` questions in total."""
    seen, ready = Seen(), asyncio.Barrier(len(people) + 1)
    each = max(2, turns // len(people))
    clients = [asyncio.create_task(ask_as(person, port, path, each, seen, ready)) for person in people]
    await asyncio.wait([asyncio.create_task(ready.wait()), *clients], return_when=asyncio.FIRST_COMPLETED)
    began, cpu = time.perf_counter(), processor_seconds(pid)
    await asyncio.gather(*clients)
    seen.seconds, seen.cpu = time.perf_counter() - began, processor_seconds(pid) - cpu
    return seen


def script(model_port: int, replies: int) -> None:
    """Prepare this many answers of WORDS words."""
    reply = {"text": " ".join(["Lisbon"] * WORDS)}
    body = json.dumps({"replies": [reply] * replies}).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"http://127.0.0.1:{model_port}/offline/script", body, headers)
    urllib.request.urlopen(request).close()


def statements_of(work: Callable[[], object]) -> int:
    """Number of SQL statements of the web process while `work` runs, transaction control included."""
    from django.db import connection

    from recall.db.acting import by

    with by("migrations"), connection.cursor() as cursor:
        cursor.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
        cursor.execute("SELECT pg_stat_statements_reset()")
        work()
        cursor.execute("SELECT sum(calls) FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%'")
        return int(cursor.fetchone()[0])


def processor_seconds(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


# One conversation ------------------------------------------------------------------------------------------------


def compile_times(turns: int) -> list[float]:
    """Milliseconds to assemble each prompt of a conversation with this many turns."""
    from accounts.models import User
    from bench.retrieval.real_texts import corpus
    from chat.prompt.assemble import assemble_prompt
    from chat.turns.intake import accept_message

    user = User.objects.get(email="bench0@example.org")
    said = [item.text for _, items in corpus().sessions for item in items if item.text.strip()]
    took: list[float] = []
    conversation = None
    for number in range(turns):
        question, answer = said[2 * number % len(said)], said[(2 * number + 1) % len(said)]
        opened = accept_message(user, uuid4(), conversation, question)
        conversation = opened.conversation.pk
        began = time.perf_counter()
        compiled = assemble_prompt(opened)
        took.append((time.perf_counter() - began) * 1000)
        finish_turn_untimed(opened, compiled, answer)
    return took


def finish_turn_untimed(opened: Any, compiled: Any, answer: str) -> None:
    """Close the turn, embed what was said and compact what is due: the worker's job, done at once and untimed."""
    from chat.compaction.jobs import run_compaction
    from chat.models import Compaction
    from chat.turn import AgentRun
    from chat.turns.finish import finish_turn
    from memory.index.indexer import embed_pending

    finish_turn(opened, answer, compiled, AgentRun(stop_reason="end_turn"), time.monotonic())
    for work in Compaction.objects.open().values_list("pk", flat=True):
        run_compaction(work)
    embed_pending()


def tell_compile_times(turns: int) -> None:
    """Print the times for the whole conversation, and for each quarter of it."""
    took = compile_times(turns)
    print(f"{'compilation, ms':<20} {'p50':>9} {'p95':>9} {'longest':>9}")
    quarter = max(1, len(took) // 4)
    for first in range(0, len(took), quarter):
        part = took[first : first + quarter]
        print(f"{f'turns {first + 1}–{first + len(part)}':<20} " + " ".join(f"{f:>9.1f}" for f in figures(part)))
    print(f"{f'all {len(took)}':<20} " + " ".join(f"{figure:>9.1f}" for figure in figures(took)))


def figures(took: list[float]) -> tuple[float, float, float]:
    return (*percentiles(took), max(took))


# The run ---------------------------------------------------------------------------------------------------------


def measure(
    name: str, port: int, path: str, people: list[Person], turns: int, model_port: int, pid: int
) -> dict[int, Seen]:
    """Run every load on one server, and print a row for each."""
    found = {}
    for at_once in AT_ONCE:
        script(model_port, max(2, turns // at_once) * at_once + WARM_UP * at_once)
        found[at_once] = asyncio.run(load(people[:at_once], port, path, turns, pid))
        print(found[at_once].row(f"{name}, {at_once}"), flush=True)
    return found


def cost_of_row_security(rounds: int, port: int, people: list[Person], turns: int, model_port: int) -> Figures:
    """Print and return the figures of all rounds with policies and without, and by how much they differ."""
    behind, without = Seen(), Seen()
    with server("recall.asgi:application", port, WEB_CORE) as pid:
        for number in range(2 * rounds):
            is_behind = number % 4 in (0, 3)
            with nullcontext() if is_behind else policies_off():
                script(model_port, turns + WARM_UP * len(people))
                seen = asyncio.run(load(people, port, "/ws/chat", turns, pid))
            total = behind if is_behind else without
            total.first_token += seen.first_token
            total.whole += seen.whole
            total.seconds, total.cpu = total.seconds + seen.seconds, total.cpu + seen.cpu
    print(behind.row("with policies"), without.row("without"), sep="\n")
    more = {
        f"more {column.removesuffix(' ms')}": (100 * (one / other - 1), "%")
        for column, one, other in zip(COLUMNS, behind.figures(), without.figures(), strict=True)
    }
    print(", ".join(f"{name} {value:+.1f} %" for name, (value, _) in more.items()))
    return behind.named("with policies") | without.named("without policies") | more


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--turns", type=int, default=200, help="counted turns of each load")
    parser.add_argument("--facts", type=int, default=1000, help="facts of each person")
    parser.add_argument("--compiles", type=int, default=0, help="only time so many compilations of one conversation")
    parser.add_argument(
        "--row-security", type=int, default=0, help="only compare so many rounds with policies and without"
    )
    options = parser.parse_args()
    os.sched_setaffinity(0, {OTHER_CORE})
    model_port, web_port, relay_port = free_port(), free_port(), free_port()
    with ExitStack() as stack:
        stack.enter_context(own_database(OFFLINE_URL=f"http://127.0.0.1:{model_port}", LOG_LEVEL="WARNING"))
        people = make_people(1 if options.compiles else max(AT_ONCE), options.facts)
        stack.enter_context(
            server("offline.app:app", model_port, OTHER_CORE, OFFLINE_ADMIN="1", OFFLINE_DELTA_DELAY="0")
        )
        if options.compiles:
            tell_compile_times(options.compiles)
            return
        print(f"{'':<14} " + " ".join(f"{column:>9}" for column in COLUMNS))
        if options.row_security:
            cost = cost_of_row_security(options.row_security, web_port, people[:WALLED], options.turns, model_port)
            if options.record:
                record("turn.row_security", cost)
            return
        with server(
            "bench.turn.relay:application", relay_port, WEB_CORE, RELAY_PROVIDER=os.environ["OFFLINE_URL"]
        ) as pid:
            relay = measure("bare relay", relay_port, "/", people, options.turns, model_port, pid)
        with server("recall.asgi:application", web_port, WEB_CORE) as pid:
            recall = measure("Recall", web_port, "/ws/chat", people, options.turns, model_port, pid)
            few = 2 + WARM_UP
            script(model_port, few)
            statements = statements_of(lambda: asyncio.run(load(people[:1], web_port, "/ws/chat", 2, pid)))
            figures = {
                "SQL statements a turn": (statements / few, ""),
                "memory of the web process": (psutil.Process(pid).memory_info().rss / 2**20, "MB"),
            }
            print(f"\nSQL statements a turn: {statements / few:.1f} (mean of {few} turns, transactions included)")
            print(f"Memory of the web process: {figures['memory of the web process'][0]:.0f} MB")
        for at_once in AT_ONCE:
            more = statistics.median(recall[at_once].first_token) - statistics.median(relay[at_once].first_token)
            share = relay[at_once].turns_a_second / recall[at_once].turns_a_second
            compared = f"first token {more:+.1f} ms over the bare relay; the relay carries {share:.1f}× the turns"
            print(f"{at_once:>3} at once: {compared}")
        if options.record:
            firsts = {n: (statistics.median(seen[n].first_token) for seen in (recall, relay)) for n in AT_ONCE}
            for at_once in AT_ONCE:
                figures |= relay[at_once].named(f"bare relay, {at_once} at once")
                figures |= recall[at_once].named(f"Recall, {at_once} at once")
            record(
                "turn",
                figures,
                {f"first token over the relay's, {n} at once": ours / bare for n, (ours, bare) in firsts.items()},
            )


if __name__ == "__main__":
    main()
