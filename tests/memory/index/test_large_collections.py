"""A large collection gets its own indexes, which the search uses, and loses them when it shrinks."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest
from django.contrib.postgres.search import SearchVector
from django.db import connection
from django.utils import timezone

from accounts.models import User
from memory.embeddings.limits import DIMENSION
from memory.embeddings.port import embedder
from memory.index import large_collections
from memory.models import Chunk, Document, Fact, PersonalIndex
from memory.models.passages import WIDTH
from memory.retrieval import candidates
from memory.retrieval.recall import retrieve
from recall.db.acting import by

pytestmark = pytest.mark.django_db(transaction=True)  # CREATE INDEX CONCURRENTLY can't run in a transaction

TREES = ("oak", "elm", "ash", "yew", "fir", "box", "bay", "fig", "sal", "koa")
QUESTION = "Which oak did I plant?"


@pytest.fixture(autouse=True)
def _large_is_small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two hundred rows are many; whatever a test built goes."""
    monkeypatch.setattr(PersonalIndex, "COUNTED", 100)
    monkeypatch.setattr(PersonalIndex, "LARGE", 200)
    monkeypatch.setattr(large_collections, "WORTH_AN_INDEX", 100)
    monkeypatch.setattr(large_collections, "COMMON", 20)
    monkeypatch.setattr(candidates, "COMMON_ROWS", 40)  # room for one tree, or one month
    yield
    PersonalIndex.objects.all().delete()
    refresh()


def plant(user: User, many: int = 300) -> None:
    """This many facts with vectors; every tenth is about the same tree."""
    random = np.random.default_rng(user.pk)
    vectors = random.standard_normal((many, DIMENSION))
    Fact.objects.bulk_create(
        Fact(
            user=user,
            status=Fact.Status.ACTIVE,
            statement=f"The user planted {TREES[number % 10]} number{number}.",
            vector=(vectors[number] / np.linalg.norm(vectors[number])).tolist(),
            embedded_by=embedder().name,
        )
        for number in range(many)
    )


def build(user: User) -> None:
    """Build the user's indexes, in the way that the worker has for it."""
    with by("index builds"):
        large_collections.build(user)


def refresh(now: datetime | None = None) -> int:
    """Refresh everyone's, in the same way; how many changed."""
    with by("index builds"):
        return large_collections.refresh_due(now or timezone.now())


def indexes() -> dict[str, str]:
    """Personal indexes: name → definition."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexname, indexdef FROM pg_indexes WHERE starts_with(indexname, 'personal_')")
        return dict(cursor.fetchall())


def looked_at(user: User, rows: int) -> PersonalIndex:
    """The state after the daily check of the user's rows."""
    row: PersonalIndex = PersonalIndex.objects.update_or_create(user=user, defaults={"rows": rows})[0]
    return row


def plan_of(work: Callable[[], object], besides: str = "") -> str:
    """The plans of the statements that `work` sends, without full scans, bitmaps or sorting. `besides`: the one
    allowed."""
    plans: list[str] = []
    off = [f"enable_{name}" for name in ("seqscan", "bitmapscan", "sort") if name != besides]

    def explain(execute: Callable[..., Any], sql: str, parameters: Any, many: bool, context: Any) -> Any:
        with connection.connection.cursor() as cursor:
            cursor.execute("; ".join(f"SET {name} = off" for name in off))
            cursor.execute(f"EXPLAIN {sql}", parameters)
            plans.extend(row[0] for row in cursor.fetchall())
            cursor.execute("; ".join(f"RESET {name}" for name in off))
        return execute(sql, parameters, many, context)

    with connection.execute_wrapper(explain):
        work()
    return "\n".join(plans)


def test_a_large_collection_gets_indexes_over_its_own_rows_alone(alice: User, bob: User) -> None:
    plant(alice)
    plant(bob)
    looked_at(alice, 300)
    looked_at(bob, 99)

    assert refresh() == 1

    definitions = indexes()
    assert len(definitions) == 1
    assert all(f"user_id = {alice.pk}" in definition for definition in definitions.values())
    assert PersonalIndex.objects.get(user=alice).models_indexed == [embedder().name]
    assert PersonalIndex.objects.get(user=bob).models_indexed == []


def test_the_search_finds_its_way_by_the_index_of_meaning(alice: User) -> None:
    plant(alice)
    before = plan_of(lambda: retrieve(alice, QUESTION, now=timezone.now()))
    build(alice)
    after = plan_of(lambda: retrieve(alice, QUESTION, now=timezone.now()))
    [meaning] = indexes()

    assert meaning not in before
    assert f"using {meaning}" in after


def test_what_is_found_by_meaning_is_still_found(alice: User) -> None:
    plant(alice)
    statement = "The user keeps bees behind the shed."
    fact = Fact.objects.create(
        user=alice,
        status=Fact.Status.ACTIVE,
        statement=statement,
        vector=embedder().embed([statement])[0].tolist(),
        embedded_by=embedder().name,
    )
    build(alice)

    found = retrieve(alice, "Where do I have my beehives?", now=timezone.now())  # no word of it

    assert [item.ref for item in found.kept] == [fact.ref]


def told(user: User, question: str) -> list[str]:
    """The statements that a purely keyword question returns."""
    Fact.objects.for_user(user).update(vector=None, embedded_by="")
    recollection = retrieve(user, question, now=timezone.now(), top_k=100)
    return sorted(item.text for item in (*recollection.kept, *(cut.item for cut in recollection.cut)))


def plant_through_the_year(user: User) -> None:
    """Thirty facts about each tree, three of each in each of ten months."""
    Fact.objects.bulk_create(
        Fact(
            user=user,
            status=Fact.Status.ACTIVE,
            statement=f"The user planted {TREES[number % 10]} in month{number // 10 % 10}, number{number}.",
        )
        for number in range(300)
    )
    build(user)
    looked_at(user, 300)


@pytest.mark.parametrize("pair_rows", [5, 0])
def test_common_words_bring_up_what_holds_them_together(
    alice: User, monkeypatch: pytest.MonkeyPatch, pair_rows: int
) -> None:
    monkeypatch.setattr(candidates, "PAIR_ROWS", pair_rows)
    monkeypatch.setattr(candidates, "COMMON_ROWS", 0)
    plant_through_the_year(alice)

    found = told(alice, "Which oak did I plant in month4?")

    assert found == [f"The user planted oak in month4, number{number}." for number in (140, 240, 40)]


def plant_in_passages(user: User) -> None:
    """Like `plant_through_the_year`, in a document."""
    document = Document.objects.create(user=user, path="/garden", title="Garden", text="A year of it.")
    Chunk.objects.bulk_create(
        Chunk(
            user=user,
            document=document,
            kind=Chunk.Kind.DOCUMENT,
            text=f"The user planted {TREES[number % 10]} in month{number // 10 % 10}, number{number}.",
            number=number,
        )
        for number in range(300)
    )
    Chunk.objects.for_user(user).update(search=SearchVector("text", weight="A", config="english"))
    build(user)
    looked_at(user, 300)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("number7", ["7."]),
        ("The oak of month4", ["140.", "240.", "40."]),
        ("The oak of month4, or number7?", ["7.", "140.", "240.", "40."]),
    ],
)
def test_passages_are_brought_up_by_their_rare_words_and_by_common_ones_together(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch, question: str, found: list[str]
) -> None:
    monkeypatch.setattr(candidates, "COMMON_ROWS", 0)
    plant_in_passages(alice)
    plant_in_passages(bob)

    assert [text.rpartition("number")[2] for text in told(alice, question)] == found


def test_a_word_of_passages_is_looked_up_under_its_owner_whatever_the_size(alice: User) -> None:
    plans = [plan_of(lambda: retrieve(alice, QUESTION, now=timezone.now()), besides="bitmapscan")]
    plant_in_passages(alice)
    plans.append(plan_of(lambda: retrieve(alice, QUESTION, now=timezone.now()), besides="bitmapscan"))

    for plan in plans:
        [condition] = set(re.findall(r"Bitmap Index Scan on chunk_words.*\n\s+(Index Cond: .*)", plan))
        assert condition.startswith("Index Cond: (memory_words_of(user_id, search) @> ")
        assert "Bitmap Index Scan on memory_chunk_user_id" not in plan, "all that the person has, for each word"


def test_a_rare_word_beside_common_ones_is_found_with_what_holds_those_together(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "COMMON_ROWS", 0)
    plant_through_the_year(alice)

    found = told(alice, "The oak of month4, or number7?")

    assert [text.rpartition("number")[2] for text in found] == ["7.", "140.", "240.", "40."]


def test_a_common_word_by_itself_is_found(alice: User) -> None:
    plant_through_the_year(alice)

    assert len(told(alice, "oaks")) == 30


def test_common_words_are_those_of_more_rows_than_are_worth_reading(alice: User) -> None:
    plant(alice)
    build(alice)

    words = PersonalIndex.objects.get(user=alice).common_words
    assert words["plant"] == 300
    assert words["oak"] == 30
    assert "number7" not in words


def test_nothing_is_built_twice(alice: User) -> None:
    plant(alice)
    looked_at(alice, 300)
    now = timezone.now()

    assert refresh(now) == 1
    assert refresh(now) == 0
    before = {name: oid(name) for name in indexes()}
    assert refresh(now + timedelta(days=2)) == 1
    assert {name: oid(name) for name in indexes()} == before


def test_an_index_whose_building_was_interrupted_is_built_anew(alice: User) -> None:
    plant(alice)
    build(alice)
    name = min(indexes())
    before = oid(name)
    with by("migrations"), connection.cursor() as cursor:
        cursor.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s", [before])

    build(alice)

    assert oid(name) != before


def test_a_collection_that_shrank_loses_its_indexes(alice: User) -> None:
    plant(alice)
    build(alice)
    looked_at(alice, 190)
    assert refresh() == 0, "just below the size: it may grow again"
    looked_at(alice, 150)

    assert refresh() == 1

    assert indexes() == {}
    assert PersonalIndex.objects.get(user=alice).models_indexed == []


def test_a_collection_of_middle_size_has_its_words_counted_and_no_index(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PersonalIndex, "LARGE", 1_000)
    plant(alice)
    looked_at(alice, 300)

    assert refresh() == 1

    assert indexes() == {}
    assert PersonalIndex.objects.get(user=alice).common_words["oak"] == 30
    looked_at(alice, 70)
    assert refresh() == 1
    assert PersonalIndex.objects.get(user=alice).common_words == {}, "every row is compared again"


def passages_about_trees(user: User, per_tree: int = 60) -> None:
    """Passages of one document, each about one tree, with words and vectors."""
    document = Document.objects.create(user=user, path="/trees", title="Trees", text="Many.")
    texts = [f"The {tree} was number{number} of its row." for number in range(per_tree) for tree in TREES]
    about = dict(zip(TREES, embedder().embed([f"The {tree} tree in the garden" for tree in TREES]), strict=True))
    random = np.random.default_rng(1)
    Chunk.objects.bulk_create(
        Chunk(
            user=user,
            document=document,
            kind=Chunk.Kind.DOCUMENT,
            text=text,
            number=number,
            vector=(about[text.split()[1]] + random.normal(0, 0.02, DIMENSION)).tolist(),
            embedded_by=embedder().name,
        )
        for number, text in enumerate(texts)
    )
    Chunk.objects.for_user(user).update(search=SearchVector("text", weight="A", config="english"))


@pytest.mark.parametrize("question", ["Which yew stands in the garden?", "What about number7 of the koa?", "shade"])
def test_the_selection_by_signs_and_rare_words_finds_what_comparing_every_row_finds(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    monkeypatch.setattr(PersonalIndex, "LARGE", 10_000)
    passages_about_trees(alice)
    passages_about_trees(bob)
    exact = retrieve(alice, question, now=timezone.now(), top_k=10, strong=0.0)
    build(alice)
    looked_at(alice, 600)

    found = retrieve(alice, question, now=timezone.now(), top_k=10, strong=0.0)

    assert len({item.ref for item in found.kept} & {item.ref for item in exact.kept}) >= 9
    assert [item.score for item in found.kept] == pytest.approx([item.score for item in exact.kept], abs=0.02)


def test_the_selection_by_signs_reads_no_rows_but_the_selected(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PersonalIndex, "LARGE", 10_000)
    passages_about_trees(alice)
    build(alice)
    looked_at(alice, 600)
    with by("vacuum"), connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE memory_chunk")

    plan = plan_of(lambda: retrieve(alice, QUESTION, now=timezone.now()))

    assert "Index Only Scan using chunk_signs" in plan


def test_signs_are_as_many_as_the_numbers_of_a_vector() -> None:
    assert WIDTH == DIMENSION


def test_the_indexes_of_somebody_who_is_gone_go(alice: User) -> None:
    plant(alice)
    build(alice)
    alice.delete()
    assert len(indexes()) == 1

    assert refresh() == 1

    assert indexes() == {}


def test_while_most_vectors_are_another_models_there_is_no_index_of_meaning(alice: User) -> None:
    plant(alice)
    Fact.objects.filter(pk__in=Fact.objects.values_list("pk", flat=True)[:200]).update(embedded_by="older")
    build(alice)

    assert indexes() == {}
    assert PersonalIndex.objects.get(user=alice).models_indexed == []


def oid(name: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::regclass::oid", [name])
        number: int = cursor.fetchone()[0]
        return number
