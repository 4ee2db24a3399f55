"""A file is evaluated for a user who exists only meanwhile, whatever happens."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from django.utils import timezone

from accounts.models import User
from memory.evaluation.datasets import Conversation, Item, Question, Session
from memory.evaluation.retrieval import run
from memory.evaluation.retrieval.baselines import BASELINES
from memory.evaluation.retrieval.metrics import ADVERSARIAL, ANSWERABLE
from memory.evaluation.retrieval.run import DOMAIN, Answer, Evaluation, Product, evaluate, temporary_user
from memory.evaluation.retrieval.table import render
from tests.memory.evaluation.retrieval.test_baselines import ByFirstLetter

pytestmark = pytest.mark.django_db

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
SAID = ("Ana: a red kettle", "Ben: a green car", "Ana: a blue boat", "Ben: nothing")


def item(number: int, text: str) -> Item:
    author, _, said = text.partition(": ")
    return Item(f"t{number}", "user", author, said, NOON + timedelta(minutes=number), tokens=400)


def question(number: int, text: str, category: str, *evidence: str) -> Question:
    return Question(f"q{number}", text, category, frozenset(evidence))


CONVERSATION = Conversation(
    "things",
    (Session(NOON, tuple(item(number, text) for number, text in enumerate(SAID))),),
    (
        question(0, "kettle", "single-hop", "t0"),
        question(1, "car and boat", "multi-hop", "t1", "t2"),
        question(2, "ferry", ADVERSARIAL, "t3"),
        question(3, "kettle again", ADVERSARIAL),
    ),
)

FOUND = {
    # message 100 + n is item tn; 999 isn't in the conversation
    "kettle": Answer((100, 101), frozenset({100}), 1),
    "car and boat": Answer((103, 101, 999, 100, 102), frozenset({103}), 2),
    "ferry": Answer((), frozenset(), 0),
    "kettle again": Answer((100,), frozenset({100}), 1),
}


class Recorder:
    """A product that answers from a table, and records for whom and when."""

    def __init__(self) -> None:
        self.users: list[User] = []
        self.asked_at: list[datetime] = []

    def product(self) -> Product:
        return Product("Recall, measured", self.store, self.index, self.ask)

    def store(self, user: User, conversation: Conversation) -> dict[Any, int]:
        assert User.objects.filter(pk=user.pk).exists()
        self.users.append(user)
        return {item.id: 100 + number for number, item in enumerate(conversation.items)}

    def index(self, user: User) -> None:
        assert user == self.users[-1]

    def ask(self, user: User, text: str, now: datetime) -> Answer:
        assert user == self.users[-1]
        self.asked_at.append(now)
        return FOUND[text]


def evaluated(product: Product, **options: Any) -> tuple[Evaluation, list[Any]]:
    lines: list[str] = []
    options = {"baselines_by": None, "tell": lambda text: None, "write": lines.append, **options}
    evaluation = evaluate("things.json", [CONVERSATION], product, **options)
    return evaluation, [json.loads(line) for line in lines]


def test_the_figures_are_those_of_the_products_ranking() -> None:
    evaluation, _ = evaluated(Recorder().product())
    means = evaluation.systems["Recall, measured"]
    single, multi, total = means["single-hop"], means["multi-hop"], means[ANSWERABLE]
    assert (single.figures["R@3"], single.figures["NDCG@10"], single.figures["B800"]) == (100, 100, 100)
    # t3 t1 t0 t2 of 400 tokens each: one of two among the first three, and within the first 800 tokens
    assert (multi.figures["R@3"], multi.figures["R@5"], multi.figures["B800"], multi.figures["B2000"]) == (
        50,
        100,
        50,
        100,
    )
    assert (total.questions, total.figures["R@3"], total.figures["R@5"]) == (2, 75, 100)


def test_adversarial_questions_stand_apart_and_count_only_with_evidence() -> None:
    evaluation, _ = evaluated(Recorder().product())
    adversarial = evaluation.systems["Recall, measured"][ADVERSARIAL]
    assert (adversarial.questions, adversarial.figures["R@20"]) == (1, 0)


def test_what_a_prompt_would_hold_is_counted() -> None:
    evaluation, _ = evaluated(Recorder().product())
    assert evaluation.recalled == run.Recalled(
        50.0, 50.0, mean_memories=1.0, useful_share=25.0, lost_to_silence=0.0, silences=1, right_silences=1
    )


def test_the_run_has_a_line_a_question_with_the_items_in_order() -> None:
    _, lines = evaluated(Recorder().product())
    assert lines == [
        {"id": "q0", "ranked": ["t0", "t1"]},
        {"id": "q1", "ranked": ["t3", "t1", "t0", "t2"]},
        {"id": "q2", "ranked": []},
        {"id": "q3", "ranked": ["t0"]},
    ]


def test_every_question_is_asked_at_the_end_of_the_last_session() -> None:
    recorder = Recorder()
    evaluated(recorder.product())
    assert recorder.asked_at == [NOON + timedelta(minutes=3)] * 4


@pytest.mark.parametrize(
    ("limit", "asked"), [(1, ["q0"]), (2, ["q0", "q2"]), (3, ["q0", "q1", "q2"]), (9, ["q0", "q1", "q2", "q3"])]
)
def test_a_limit_takes_questions_evenly_from_all(limit: int, asked: list[str]) -> None:
    evaluation, lines = evaluated(Recorder().product(), limit=limit)
    assert evaluation.questions == len(asked)
    assert [line["id"] for line in lines] == asked


def test_baselines_stand_beside_the_product_with_the_same_questions() -> None:
    evaluation, _ = evaluated(Recorder().product(), baselines_by=ByFirstLetter())
    assert tuple(evaluation.systems) == ("Recall, measured", *BASELINES)
    assert {means[ANSWERABLE].questions for means in evaluation.systems.values()} == {2}
    assert evaluation.systems["BM25"]["multi-hop"].figures["R@3"] == 100


def test_latency_is_of_the_products_retrieval(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter([0.0, 2.5, *(moment for n in range(4) for moment in (n, n + (n + 1) / 1000))])
    monkeypatch.setattr(run, "perf_counter", lambda: next(ticks))
    evaluation, _ = evaluated(Recorder().product())
    assert evaluation.indexing_seconds == 2.5
    assert evaluation.latency.p50 == pytest.approx(2)
    assert evaluation.latency.p95 == pytest.approx(4)


def test_the_table_shows_every_system_in_every_category() -> None:
    evaluation, _ = evaluated(Recorder().product(), baselines_by=ByFirstLetter())
    table = render(evaluation)
    blocks = [block.splitlines() for block in table.split("\n\n")]
    assert [block[0].split("  ")[0] for block in blocks[1:5]] == [
        "all answerable, 2",
        "multi-hop, 1",
        "single-hop, 1",
        "adversarial (apart), 1",
    ]
    for block in blocks[1:5]:
        assert [line[:26].strip() for line in block[1:]] == ["Recall, measured", *BASELINES]
    assert blocks[1][1].split()[2:6] == ["75.0", "100.0", "100.0", "100.0"]
    assert "evidence among them for 50.0 % of the answerable questions" in table
    assert "adversarial questions: 50.0 %" in table


# The user --------------------------------------------------------------------------------------------------------


def test_the_user_goes_when_the_conversation_has_been_asked() -> None:
    evaluated(Recorder().product())
    assert not User.objects.filter(email__endswith=DOMAIN).exists()


@pytest.mark.parametrize("what", [KeyboardInterrupt, RuntimeError])
@pytest.mark.parametrize("where", ["store", "index", "ask"])
def test_the_user_goes_when_an_evaluation_is_interrupted_or_fails(what: type[BaseException], where: str) -> None:
    def fails(*given: Any) -> Any:
        assert User.objects.filter(email__endswith=DOMAIN).exists()
        raise what

    with pytest.raises(what):
        evaluated(replace(Recorder().product(), **cast("Any", {where: fails})))
    assert not User.objects.filter(email__endswith=DOMAIN).exists()


def test_the_user_cannot_sign_in() -> None:
    with temporary_user() as user:
        assert not user.is_active
        assert not user.has_usable_password()


def test_only_users_that_a_killed_evaluation_left_are_removed(alice: User) -> None:
    long_ago = timezone.now() - timedelta(days=2)
    User.objects.filter(pk=alice.pk).update(date_joined=long_ago)
    left = User.objects.create_user(f"left@{DOMAIN}", date_joined=long_ago)
    running = User.objects.create_user(f"running@{DOMAIN}")
    with temporary_user():
        pass
    remaining = set(User.objects.values_list("pk", flat=True))
    assert remaining == {alice.pk, running.pk}
    assert left.pk not in remaining
