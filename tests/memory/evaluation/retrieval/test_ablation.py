"""What a part is worth is said over conversations; a change counts if it helps in those it was not chosen on."""

from dataclasses import replace

import pytest

from memory.evaluation.retrieval.ablation import WHOLE, compare, kept_figures, render, variants
from memory.evaluation.retrieval.run import Answer
from memory.retrieval.question_kinds import KINDS
from memory.retrieval.ranking import MEASURED
from tests.memory.evaluation.retrieval.test_run import CONVERSATION, Recorder


def test_every_part_and_every_kind_is_left_out_once() -> None:
    changed = variants(MEASURED)

    assert changed.pop(WHOLE) is MEASURED
    for part in MEASURED.weights:
        assert changed[f"{part} × 0"].weights[part] == 0
        assert changed[f"{part} × 2"].weights == {**MEASURED.weights, part: 2 * MEASURED.weights[part]}
        assert changed[f"{part} × 0"].chats.get(part, 0) == 0
    assert changed["keyword × 2"].chats["keyword"] == 2 * MEASURED.chats["keyword"]
    assert not changed["weights of chats"].chats
    for kind in KINDS:
        assert set(changed[f"kind “{kind.name}”"].kinds) == set(KINDS) - {kind}


@pytest.mark.django_db
def test_each_product_is_asked_everything_of_a_conversation_that_is_stored_once() -> None:
    recorder, other = Recorder(), Recorder()
    other.users = recorder.users
    worse = replace(other.product(), ask=lambda user, text, now: Answer((), frozenset(), 0))

    figures = compare([CONVERSATION], {WHOLE: recorder.product(), "worse": worse}, lambda said: None)

    assert len(recorder.users) == 1
    assert figures == {WHOLE: [(100.0, 100.0)], "worse": [(0.0, 0.0)]}


def test_a_change_that_was_chosen_elsewhere_is_judged_in_the_conversation_left_out() -> None:
    whole = [(50.0, 60.0)] * 3
    figures = {WHOLE: whole, "helps two, harms one": [(56.0, 66.0), (56.0, 66.0), (41.0, 51.0)]}

    *_, change, chosen = render("talk.json", figures)

    assert change == "| helps two, harms one | +1.0 ± 8.7 | +1.0 ± 8.7 |"
    assert chosen.startswith("| chosen on all others (nothing, helps two, harms one) | -3.0 ± 5.2 |")


def test_the_figures_that_are_kept_have_their_spread() -> None:
    kept = kept_figures({WHOLE: [(50.0, 60.0), (52.0, 60.0)], "without words": [(40.0, 60.0), (44.0, 58.0)]})

    assert kept["nothing, R@5"] == (51.0, "%")
    assert kept["without words, R@5"] == (-9.0, "points")
    assert kept["without words, R@5, ±"][0] == pytest.approx(1.414, abs=0.001)
    assert kept["chosen on all others, R@10"] == (0.0, "points")


def test_a_change_within_chance_is_not_chosen() -> None:
    figures = {WHOLE: [(50.0, 60.0)] * 3, "a hair better": [(50.1, 60.1)] * 3}

    assert list(render("talk.json", figures))[-1] == "| chosen on all others (nothing) | +0.0 ± 0.0 | +0.0 ± 0.0 |"
