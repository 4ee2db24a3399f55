"""What the evaluation counts as a failure, and what it doesn't."""

import json
from typing import Any

import pytest

from chat.evaluation.cases import FactRule, Probe
from chat.evaluation.checks import Reply, Unit, judge, judge_facts, read_prompt

HOME = Probe("Where do I live?", must=("Lyon",), must_not=("Nantes",))


def reply(answer: str, *units: Unit) -> Reply:
    return Reply(answer, units)


def test_the_current_answer_from_the_current_fact_is_right() -> None:
    assert judge(HOME, reply("You live in Lyon.", Unit("memory", "The user lives in Lyon.", "current"))) == []


@pytest.mark.parametrize("qualifier", ["", "current", None])
def test_a_stale_memory_without_a_qualifier_is_wrong(qualifier: str | None) -> None:
    stale = Unit("memory", "I live in Nantes", qualifier)
    (wrong,) = judge(HOME, reply("You live in Lyon.", Unit("profile", "The user lives in Lyon."), stale))
    assert wrong.startswith("prompt asserts “Nantes”: memory: I live in Nantes")


@pytest.mark.parametrize(
    "unit",
    [
        Unit("memory", "I live in Nantes", "superseded by fact:2"),
        Unit("memory", "We moved from Nantes to Lyon", "current"),
        Unit("memory", "I lived in Nantes until 2020", "current"),
        Unit("clock", "Current date: Friday, in Nantes"),
    ],
)
def test_a_stale_memory_that_says_that_it_is_over_is_no_failure(unit: Unit) -> None:
    assert judge(HOME, reply("You live in Lyon.", Unit("profile", "The user lives in Lyon."), unit)) == []


def test_the_stale_value_in_the_answer_is_wrong_even_beside_the_current_one() -> None:
    wrong = judge(HOME, reply("You live in Lyon. You live in Nantes.", Unit("profile", "The user lives in Lyon.")))
    assert wrong == ["answer has “Nantes”"]


def test_what_the_answer_says_to_be_over_is_not_asserted() -> None:
    assert judge(HOME, reply("You live in Lyon. You used to live in Nantes.", Unit("memory", "Lyon", "current"))) == []


def test_words_within_other_words_are_not_found() -> None:
    assert judge(Probe("?", answer_must_not=("law",)), reply("You mow the lawn.")) == []


def test_silence_means_that_nothing_is_recalled() -> None:
    probe = Probe("What's my blood type?", silent=True)
    assert judge(probe, reply("I don't know.", Unit("profile", "The user lives in Genoa."))) == []
    assert judge(probe, reply("I don't know.", Unit("memory", "I live in Genoa", "current")))


def test_facts_are_counted_and_forbidden_by_pattern() -> None:
    learned = ["The user lives in Utrecht.", "The user's home is Utrecht.", "The user has a dog named No."]
    assert judge_facts(FactRule(), learned) == []
    assert len(judge_facts(FactRule(max=1, of="Utrecht"), learned)) == 1
    assert len(judge_facts(FactRule(min=4), learned)) == 1
    assert judge_facts(FactRule(none=("dog named No",)), learned) == ["learned “The user has a dog named No.”"]


def test_a_prompt_is_read_by_its_parts_and_the_question_is_none_of_them() -> None:
    recalled = {"note": "…", "recalled_memories": [{"id": "fact:1", "text": "T", "qualifier": "current"}]}
    request: dict[str, Any] = {
        "system": [{"type": "text", "text": "the system prompt"}, {"type": "text", "text": "# Profile\n- a line"}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "earlier"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "an answer"}]},
            {
                "role": "user",
                "content": [*({"type": "text", "text": one} for one in (json.dumps(recalled), "Monday", "Q"))],
            },
        ],
    }
    assert read_prompt(request) == (
        Unit("profile", "# Profile"),
        Unit("profile", "- a line"),
        Unit("history", "earlier"),
        Unit("history", "an answer"),
        Unit("memory", "T", "current"),
        Unit("clock", "Monday"),
    )
