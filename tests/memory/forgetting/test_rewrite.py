"""Dropped summaries and episodes are rewritten from what is left."""

from decimal import Decimal
from typing import Any

import pytest

from budget.spending import limits
from chat.compaction import rewrite as segment_rewrite
from chat.compaction.rewrite import DROPPED, is_dropped
from chat.compaction.summaries import select_engine
from chat.compaction.summaries.rule_engine import RuleEngine
from chat.evaluation.stores import tables_with
from chat.models import Segment
from memory.forgetting import rewrite
from memory.forgetting.execute import forget
from memory.forgetting.targets import Target, What
from memory.librarian import run
from memory.librarian.engine import Extraction, ExtractionError, ProposedEpisode
from memory.models import Chunk, Episode, Forgetting
from memory.models.kinds import EpisodeKind
from tests.memory.forgetting.conversation import WORDS, Told

pytestmark = pytest.mark.django_db


@pytest.fixture
def receipt(told: Told, monkeypatch: pytest.MonkeyPatch) -> Forgetting:
    """A forgotten fact; summaries are made by the rules."""
    whole = select_engine.summarize
    monkeypatch.setattr(segment_rewrite, "summarize", lambda turns, **more: whole(turns, engine=RuleEngine()))
    return forget(told.user, Target(What.FACT, str(told.fact.pk)), by=told.user)


class Tells:
    """Makes one episode of whatever it reads, or fails."""

    version = "tells/1"
    uses_tokens = False
    fails = False

    def extract(self, reading: Any) -> Extraction:
        """One episode of everything."""
        if self.fails:
            raise ExtractionError("The model did not answer.")
        numbers = [utterance.number for utterance in reading.utterances]
        episode = ProposedEpisode(
            kind=EpisodeKind.PLAIN,
            first=min(numbers),
            last=max(numbers),
            title="Bread",
            summary="Bread was baked.",
            significance=0.5,
        )
        return Extraction(facts=[], episode=episode)


@pytest.fixture
def tells(monkeypatch: pytest.MonkeyPatch) -> Tells:
    engine = Tells()
    monkeypatch.setattr(run, "choose_engine", lambda: engine)
    return engine


def test_a_dropped_summary_stands_as_a_placeholder_and_then_anew(told: Told, receipt: Forgetting, tells: Tells) -> None:
    dropped = Segment.objects.get(pk=told.segment.pk)
    assert dropped.text == DROPPED.format(first=1, last=1)
    assert not Chunk.objects.filter(segment=dropped).exists()

    assert rewrite.rewrite(receipt.pk) == 0

    segment = Segment.objects.get(pk=told.segment.pk)
    assert not is_dropped(segment)
    assert (segment.first_turn, segment.last_message_id) == (1, told.reply.pk)
    assert Chunk.objects.filter(segment=segment).exists()
    assert tables_with(*WORDS) == {}


def test_a_limit_that_is_used_up_has_the_rules_write_it_anew(
    told: Told, tells: Tells, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segment_rewrite, "choose_engine", lambda: pytest.fail("a model is chosen"))
    limits.set_limit(told.user, limits.What.MONEY, limits.Per.MONTH, Decimal(0))
    receipt = forget(told.user, Target(What.FACT, str(told.fact.pk)), by=told.user)

    assert rewrite.rewrite(receipt.pk) == 0

    assert not is_dropped(Segment.objects.get(pk=told.segment.pk))


def test_an_episode_is_told_anew_of_the_same_turns(told: Told, receipt: Forgetting, tells: Tells) -> None:
    assert not Episode.objects.exists()

    rewrite.rewrite(receipt.pk)

    episode = Episode.objects.get()
    assert (episode.title, episode.first_turn, episode.last_turn, episode.run) == ("Bread", 1, 2, told.run)
    rewrite.rewrite(receipt.pk)
    assert Episode.objects.count() == 1


def test_what_could_not_be_written_waits_for_the_clock(
    told: Told, receipt: Forgetting, tells: Tells, queued: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    tells.fails = True
    assert rewrite.rewrite(receipt.pk) == 1

    with django_capture_on_commit_callbacks(execute=True):
        assert rewrite.requeue() == 1
    assert queued == [(rewrite.TASK, (receipt.pk,))]

    tells.fails = False
    assert (rewrite.rewrite(receipt.pk), rewrite.requeue()) == (0, 0)


def test_what_is_left_of_a_conversation_that_went_meanwhile_is_struck_off(
    told: Told, receipt: Forgetting, tells: Tells
) -> None:
    told.conversation.delete()

    assert rewrite.rewrite(receipt.pk) == 0
