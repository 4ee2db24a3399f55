"""Episodes found without a model: ones that happened, in the user's words, and nothing that wasn't said."""

from datetime import UTC, datetime

import pytest

from memory.librarian.engine import ProposedEpisode
from memory.librarian.rules.episodes import episode_in
from memory.models.kinds import EpisodeKind
from memory.ports.source import Utterance

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)


def find(*said: str, names: tuple[str, ...] = ()) -> ProposedEpisode | None:
    """The episode of a conversation in which the user said these things, each answered."""
    talk: list[Utterance] = []
    for turn, text in enumerate(said, start=1):
        talk.append(Utterance(0, 2 * turn - 1, "user", text, NOW, turn=turn))
        talk.append(Utterance(0, 2 * turn, "assistant", "I see.", NOW, turn=turn))
    return episode_in(talk, names)


@pytest.mark.parametrize(
    ("says", "kind", "title"),
    [
        ("We finally decided to move to Porto.", EpisodeKind.DECISION_MADE, "Decided to move to Porto"),
        (
            "I finally understand how the tide tables work.",
            EpisodeKind.BREAKTHROUGH,
            "Understand how the tide tables work",
        ),
        ("I fixed the pump of the boat.", EpisodeKind.PROBLEM_SOLVED, "Fixed the pump of the boat"),
        ("I passed my driving test today!", EpisodeKind.TASK_COMPLETED, "Passed my driving test today"),
        ("We dropped the idea of a pool.", EpisodeKind.PIVOT, "Dropped the idea of a pool"),
    ],
)
def test_the_sentence_that_says_what_happened_names_the_episode(says: str, kind: EpisodeKind, title: str) -> None:
    found = find("Hello!", says)

    assert found is not None
    assert (found.kind, found.title) == (kind, title)
    assert found.summary == f"The user wrote: “{says.rstrip('.!')}”"


@pytest.mark.parametrize(
    "says",
    [
        "How are you today?",
        "I understand how you feel about it.",
        "I passed the salt to my brother.",
        "I dropped my keys in the lake.",
        "Should I decide to move to Porto?",
        "If we decided to move, we'd go to Porto.",
        "I decided.",
        "Thanks, that was very kind of you!",
    ],
)
def test_small_talk_and_what_did_not_happen_is_no_episode(says: str) -> None:
    assert find("Hello!", says) is None


@pytest.mark.parametrize(
    ("says", "tone"),
    [
        ("We decided to move to Porto, and I'm so relieved.", "relieved"),
        ("I decided to leave the band. I was really sad.", "sad"),
        ("I decided to sing a sad song at the wedding.", ""),
        ("We decided to sing happy birthday to Tom by mail.", ""),
        ("I decided to leave the band. I'm not happy about it.", ""),
    ],
)
def test_a_tone_is_what_the_user_says_of_themselves(says: str, tone: str) -> None:
    found = find("Hello!", says)

    assert found is not None
    assert found.tone == tone


def test_what_led_to_it_is_about_the_same_and_small_talk_is_not() -> None:
    about = find("Should we move to Porto or stay?", "Nice weather today.", "We decided to move to Porto.")
    assert about is not None
    assert (about.context, about.first) == ("Before, the user wrote: “Should we move to Porto or stay?”", 1)

    alone = find("Hello!", "Nice weather today.", "We decided to move to Porto.")
    assert alone is not None
    assert (alone.context, alone.first) == ("", 5)


def test_topics_are_what_it_names_and_participants_are_people_it_tells_of() -> None:
    found = find("Hello!", "We decided to move to Porto with Mary.", names=("Mary", "Rex"))

    assert found is not None
    assert (found.topics, found.participants) == (("mary", "porto"), ("Mary",))
