"""A million synthetic rows in a few minutes: made by numpy in blocks of PostgreSQL's own format, loaded by binary COPY.

Nothing is parsed on the way: vectors are written as half precision numbers and words as finished tsvectors, a passage's
own with weight A and its neighbors' with B, C and D, as `memory/index/indexer.py` makes them. Words are drawn as often
as they occur in the real texts, with a tail of rare ones (Zipf); a vector is that of a real passage with noise, and
those of a conversation are close together. Conversations of different users are written in random order, as they are
when a thousand users talk in the same weeks. Messages behind the passages are empty: nothing reads them.
"""

import itertools
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final
from uuid import UUID

import numpy as np
from django.db import connection, models
from django.utils import timezone
from numpy.typing import NDArray

FACTS: Final = 0.10
EPISODES: Final = 0.01
"""Shares of a user's items; the rest are passages of messages."""
CONVERSATION: Final = 50
"""Passages per conversation."""
WORDS: Final = (16.0, 0.6, 80)
"""Distinct words of a passage without stop words: median, spread (of the logarithm), maximum."""
VOCABULARY: Final = 50_000
NEIGHBOURS: Final = 3
NOISE: Final = 0.8
"""Length of the noise added to a real vector of length 1: the two then have a cosine of about .78."""
BLOCK: Final = 400
"""Conversations generated at a time."""
YEARS: Final = timedelta(days=730)
PACE: Final = timedelta(seconds=30)
"""Time between two messages."""

EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)
VARCHAR_OID: Final = 1043

type Ints = NDArray[np.int64]
type Row = Mapping[str, bytes]


# As PostgreSQL keeps it ------------------------------------------------------------------------------------------


def number(value: int) -> bytes:
    return struct.pack(">q", value)


def moment(value: datetime) -> bytes:
    return struct.pack(">q", (value - EPOCH) // timedelta(microseconds=1))


def halfvecs(vectors: NDArray[np.float32]) -> list[bytes]:
    width = vectors.shape[1]
    head, body = struct.pack(">hh", width, 0), vectors.astype(np.float16).astype(">f2").tobytes()
    return [head + body[start : start + 2 * width] for start in range(0, len(body), 2 * width)]


def _constant(field: models.Field[Any, Any]) -> bytes | None:
    """The field's default in binary COPY format; None: NULL."""
    value = field.get_default()
    if value is None or (value == "" and not field.empty_strings_allowed):
        return None if field.null else moment(timezone.now())  # auto_now_add: the only one without a default
    match field.get_internal_type():
        case "PositiveIntegerField" | "IntegerField":
            return struct.pack(">i", value)
        case "BigAutoField" | "BigIntegerField" | "ForeignKey":
            return struct.pack(">q", value)
        case "FloatField":
            return struct.pack(">d", value)
        case "BooleanField":
            return bytes([value])
        case "DateTimeField":
            return moment(value)
        case "ArrayField":
            return struct.pack(">iii", 0, 0, VARCHAR_OID)
        case "JSONField":
            return b"\x01{}"
    return str(value).encode()


def copy_in(model: type[models.Model], rows: Iterable[Row]) -> int:
    """COPY rows of one table, given the columns that vary; the others have the model's defaults."""
    rows = iter(rows)
    first = next(rows, None)
    if first is None:
        return 0
    fields = [field for field in model._meta.concrete_fields if not field.generated]
    constants = {field.column: _constant(field) for field in fields if field.column not in first}
    order = [*constants, *first]
    head = struct.pack(">h", len(order)) + b"".join(_cell(value) for value in constants.values())
    columns = ", ".join(f'"{column}"' for column in order)
    done = 0
    with connection.cursor() as cursor:
        sql = f"COPY {model._meta.db_table} ({columns}) FROM STDIN (FORMAT binary)"
        with cursor.cursor.copy(sql) as copy:
            copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
            for part in itertools.batched(itertools.chain([first], rows), 500, strict=False):
                copy.write(b"".join(head + b"".join(map(_cell, row.values())) for row in part))
                done += len(part)
            copy.write(struct.pack(">h", -1))
    return done


def _cell(value: bytes | None) -> bytes:
    return b"\xff\xff\xff\xff" if value is None else struct.pack(">i", len(value)) + value


# Words -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Vocabulary:
    """Words in the order of their bytes, which is a tsvector's."""

    words: list[str]
    heaped: NDArray[np.float64]
    """Cumulative frequency of each word: the last is 1."""
    lexemes: list[bytes]
    """Word w with weight A, B, C, D: at 4w to 4w + 3."""

    def draw(self, random: np.random.Generator, size: int) -> Ints:
        """Draw `size` words, by number."""
        return np.searchsorted(self.heaped, random.random(size)).astype(np.int64)


def vocabulary(random: np.random.Generator) -> Vocabulary:
    """The words of the passages now in the database, with their frequencies, and a tail of rare ones."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT word, nentry FROM ts_stat('SELECT search FROM memory_chunk') ORDER BY nentry DESC, word")
        often = {word: float(count) for word, count in cursor.fetchall()}
    rank, rarest = len(often), min(often.values(), default=1.0)
    for place in range(rank, VOCABULARY):
        often.setdefault(_invented(random), rarest * rank / (place + 1))
    words = sorted(often, key=str.encode)
    shares = np.array([often[word] for word in words])
    lexemes = [
        word.encode() + b"\0" + struct.pack(">HH", 1, weight << 14 | 1) for word in words for weight in (3, 2, 1, 0)
    ]
    heaped = np.cumsum(shares) / shares.sum()
    heaped[-1] = 1.0
    return Vocabulary(words, heaped, lexemes)


def _invented(random: np.random.Generator) -> str:
    return "".join("bdfgklmnprstvz"[random.integers(14)] + "aeiou"[random.integers(5)] for _ in range(4))


def passages_words(
    random: np.random.Generator, words: Vocabulary, conversation: Ints
) -> tuple[list[bytes], list[bytes]]:
    """The text of each passage, and its tsvector with its neighbors' words. `conversation`: each passage's conversation
    number."""
    median, spread, most = WORDS
    size = len(conversation)
    lengths = np.clip(random.lognormal(np.log(median), spread, size), 3, most).astype(np.int64)
    owner, drawn = np.repeat(np.arange(size), lengths), words.draw(random, int(lengths.sum()))
    keys = []
    for step in range(-NEIGHBOURS, NEIGHBOURS + 1):
        target = owner + step
        inside = (target >= 0) & (target < size)
        inside[inside] = conversation[target[inside]] == conversation[owner[inside]]
        keys.append(((target[inside] * len(words.words)) + drawn[inside]) * 4 + abs(step))
    together = np.sort(np.concatenate(keys))
    strongest = np.concatenate(([True], together[1:] >> 2 != together[:-1] >> 2))
    together = together[strongest]
    row, entry = np.divmod(together, 4 * len(words.words))
    texts = [" of the ".join(words.words[w] for w in part).encode() for part in _split(drawn, np.cumsum(lengths))]
    ends = np.searchsorted(row, np.arange(size), side="right")
    lexemes = words.lexemes
    vectors = [struct.pack(">i", len(part)) + b"".join([lexemes[e] for e in part]) for part in _split(entry, ends)]
    return texts, vectors


def _split(values: Ints, ends: Ints) -> Iterator[list[int]]:
    every, start = values.tolist(), 0
    for end in ends.tolist():
        yield every[start:end]
        start = end


# Vectors ---------------------------------------------------------------------------------------------------------


def near(random: np.random.Generator, centres: NDArray[np.float32], chosen: Ints) -> list[bytes]:
    """A vector of length 1 near each of the chosen ones."""
    width = centres.shape[1]
    noise = random.standard_normal((len(chosen), width), np.float32) * np.float32(NOISE / width**0.5)
    vectors = centres[chosen] + noise
    return halfvecs(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


# Rows ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation to be generated."""

    user: int
    id: UUID
    passages: int
    began: datetime


class Filler:
    """Generates rows for users; the same seed and real texts give the same rows."""

    def __init__(self, seed: int, centres: NDArray[np.float32], model: str) -> None:
        self._random = np.random.default_rng(seed)
        self._words = vocabulary(self._random)
        self._centres = centres
        self._model = model.encode()
        self._now = timezone.now()

    def fill(self, wanted: Mapping[int, int], there: Mapping[int, int], tell: Callable[[str], None]) -> int:
        """Fill up each user's items (by id) to the wanted number, given the existing passages; return how many rows
        were added."""
        facts = {user: round(items * FACTS) for user, items in wanted.items()}
        episodes = {user: round(items * EPISODES) for user, items in wanted.items()}
        rows = self.add_facts(_repeated(facts)) + self._episodes(_repeated(episodes))
        passages = {user: n - facts[user] - episodes[user] - there.get(user, 0) for user, n in wanted.items()}
        talks = self._talks(passages)
        tell(f"{rows} facts and episodes; {len(talks)} conversations to come")
        self._conversations(talks)
        for start in range(0, len(talks), BLOCK):
            rows += self._passages(talks[start : start + BLOCK])
            if start // BLOCK % 10 == 9:
                tell(f"{rows} rows")
        return rows

    def _talks(self, passages: Mapping[int, int]) -> list[Talk]:
        found = []
        for user, count in passages.items():
            for start in range(0, count, CONVERSATION):
                began = self._now - YEARS * self._random.random()
                new = UUID(bytes=self._random.bytes(16), version=4)
                found.append(Talk(user, new, min(CONVERSATION, count - start), began))
        return [found[place] for place in self._random.permutation(len(found))]

    def _conversations(self, talks: Iterable[Talk]) -> None:
        from chat.models import Conversation

        copy_in(
            Conversation,
            (
                {
                    "id": talk.id.bytes,
                    "user_id": number(talk.user),
                    "started_at": moment(talk.began),
                    "status": b"ended",
                }
                for talk in talks
            ),
        )

    def _passages(self, talks: list[Talk]) -> int:
        from chat.models import Message
        from memory.models import Chunk

        sizes = np.array([talk.passages for talk in talks])
        conversation = np.repeat(np.arange(len(talks)), sizes)
        places = np.concatenate([np.arange(1, size + 1) for size in sizes])
        texts, searches = passages_words(self._random, self._words, conversation)
        starts = self._random.integers(0, len(self._centres), len(talks))
        chosen = (starts[conversation] + self._random.integers(0, 20, len(conversation))) % len(self._centres)
        vectors = near(self._random, self._centres, chosen)
        first = _reserve(Message, len(conversation))
        chunk = _reserve(Chunk, len(conversation))
        said = [
            _NewMessage(number(first + row), number(talk.user), talk.id.bytes, place, moment(talk.began + PACE * place))
            for row, (talk, place) in enumerate(
                zip((talks[one] for one in conversation.tolist()), places.tolist(), strict=True)
            )
        ]
        copy_in(Message, map(_message, said))
        passages = zip(itertools.count(chunk), said, texts, searches, vectors, strict=False)
        return copy_in(Chunk, ({**_chunk(*passage), "embedded_by": self._model} for passage in passages))

    def add_facts(self, owners: list[int]) -> int:
        """Give each of these users one fact."""
        from memory.models import Fact

        return sum(copy_in(Fact, self._statements(part, self._fact)) for part in _lists(owners))

    def _episodes(self, owners: list[int]) -> int:
        from memory.models import Episode

        return sum(copy_in(Episode, self._statements(part, self._episode)) for part in _lists(owners))

    def _statements(self, owners: list[int], make: Callable[[str, datetime], Row]) -> Iterator[Row]:
        vectors = near(self._random, self._centres, self._random.integers(0, len(self._centres), len(owners)))
        drawn = self._words.draw(self._random, 10 * len(owners)).tolist()
        for row, user in enumerate(owners):
            said = " ".join(self._words.words[word] for word in drawn[10 * row : 10 * row + 10])
            when = self._now - YEARS * self._random.random()
            common = {"user_id": number(user), "vector": vectors[row], "embedded_by": self._model}
            yield {"id": number(self._next(make)), **common, **make(said, when)}

    def _next(self, make: Callable[[str, datetime], Row]) -> int:
        from memory.models import Episode, Fact

        return _reserve(Fact if make == self._fact else Episode, 1)

    @staticmethod
    def _fact(said: str, when: datetime) -> Row:
        statement = f"The user said that {said}.".encode()
        return {"statement": statement, "status": b"active", "recorded_at": moment(when)}

    @staticmethod
    def _episode(said: str, when: datetime) -> Row:
        summary = f"They spoke about {said}, and then about {said[::-1]}.".encode()
        return {"title": said[:60].encode(), "summary": summary, "happened_at": moment(when)}


@dataclass(frozen=True, slots=True)
class _NewMessage:
    """A message to be generated, in PostgreSQL's format."""

    id: bytes
    user: bytes
    conversation: bytes
    place: int
    when: bytes


def _message(said: _NewMessage) -> Row:
    by_user = said.place % 2
    return {
        "id": said.id,
        "user_id": said.user,
        "conversation_id": said.conversation,
        "seq": struct.pack(">i", said.place),
        "turn": struct.pack(">i", (said.place + 1) // 2),
        "role": b"user" if by_user else b"assistant",
        "event_type": b"user_message" if by_user else b"assistant_response",
        "created_at": said.when,
    }


def _chunk(identity: int, said: _NewMessage, text: bytes, search: bytes, vector: bytes) -> dict[str, bytes]:
    return {
        "id": number(identity),
        "user_id": said.user,
        "kind": b"message",
        "message_id": said.id,
        "conversation_id": said.conversation,
        "place": struct.pack(">i", said.place),
        "text": text,
        "own_words": bytes([said.place % 2]),
        "said_at": said.when,
        "tokens": struct.pack(">i", len(text) // 4),
        "search": search,
        "vector": vector,
    }


def _repeated(counts: Mapping[int, int]) -> list[int]:
    return [user for user, count in counts.items() for _ in range(count)]


def _lists(owners: list[int], size: int = 20_000) -> Iterator[list[int]]:
    return (owners[start : start + size] for start in range(0, len(owners), size))


_next_id: dict[str, int] = {}


def _reserve(model: type[models.Model], how_many: int) -> int:
    """Reserve this many new ids and return the first; `settle_sequences` tells the database afterwards."""
    table = model._meta.db_table
    if table not in _next_id:
        _next_id[table] = 1 + (model._default_manager.aggregate(top=models.Max("pk"))["top"] or 0)
    first = _next_id[table]
    _next_id[table] += how_many
    return first


def settle_sequences() -> None:
    """Set each table's sequence after its last id."""
    with connection.cursor() as cursor:
        for table, following in _next_id.items():
            cursor.execute("SELECT setval(pg_get_serial_sequence(%s, 'id'), %s, false)", [table, following])


# Indexes ---------------------------------------------------------------------------------------------------------


def without_indexes(tables: Iterable[str], work: Callable[[], None], tell: Callable[[str], None]) -> None:
    """Do the work without foreign key checks and without indexes except unique ones; rebuild the others afterwards."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index"
            " WHERE indrelid = ANY(%s::regclass[]) AND NOT indisunique",
            [list(tables)],
        )
        dropped = cursor.fetchall()
        for name, _ in dropped:
            cursor.execute(f"DROP INDEX {name}")
        cursor.execute("SET session_replication_role = replica")
    work()
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = DEFAULT")
        for said in ("memory_fact SET statement = statement", "memory_episode SET summary = summary"):
            _timed(partial(cursor.execute, f"UPDATE {said}"), f"words of {said.split()[0]}", tell)  # by their triggers
        cursor.execute("SET maintenance_work_mem = '1GB'")
        for name, definition in dropped:
            _timed(partial(cursor.execute, definition), name, tell)
        _timed(partial(cursor.execute, "VACUUM ANALYZE"), "VACUUM ANALYZE", tell)


def _timed(work: Callable[[], object], name: str, tell: Callable[[str], None]) -> None:
    began = timezone.now()
    work()
    seconds = (timezone.now() - began).total_seconds()
    if seconds > 1:
        tell(f"{name}: {seconds:.0f} s")
