"""`manage.py evaluate-librarian` counts what an engine finds, and the rule engine finds enough and invents little."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memory.evaluation.librarian.labels import Label, LabeledMessage, UnknownLabelsError, read_labels
from memory.evaluation.librarian.run import Evaluation, evaluate_messages
from memory.librarian.rules.engine import RuleEngine
from memory.models.kinds import Kind
from recall.environment import BASE_DIR

DATA = BASE_DIR / "tests/memory/data"
DEVELOPMENT, HELD_OUT = DATA / "librarian_development.jsonl", DATA / "librarian_held_out.jsonl"
FRESH, FRESH_HELD_OUT = DATA / "fresh_development.jsonl", DATA / "fresh_held_out.jsonl"


def label(words: list[str], other: list[str] | None = None, day: str | None = None) -> dict[str, Any]:
    """A labeled fact, as in the files."""
    return {"kinds": ["person"], "about": "", "words": words, "not": other or [], "value_date": day}


def message(text: str, facts: list[dict[str, Any]], **rest: Any) -> dict[str, Any]:
    """A labeled message, said at noon on 11 March 2026."""
    line = {"id": "x", "category": "people", "said_at": "2026-03-11T12:00:00Z", "zone": "Europe/Lisbon"}
    return {**line, "text": text, "facts": facts, "tolerated": [], **rest}


def evaluated(*lines: dict[str, Any]) -> Evaluation:
    """The rule engine's figures on these messages."""
    messages = [LabeledMessage.model_validate_json(json.dumps(line)) for line in lines]
    return evaluate_messages("x.jsonl", messages, RuleEngine())


def ran(*arguments: Any) -> str:
    out = StringIO()
    call_command("evaluate-librarian", *arguments, stdout=out)
    return out.getvalue()


# What tells a fact -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "other", "statement", "told"),
    [
        (["wife", "Ana"], [], "The user's wife is called Ana.", True),
        (["wife", "Ana"], [], "The user's wife is called Anabel.", False),
        (["wife|spouse"], [], "The user's SPOUSE is away.", True),
        (["allerg*"], [], "The user has allergies.", True),
        (["don't"], [], "They don’t eat pork.", True),
        (["Lisbon"], ["user's sister"], "The user's sister lives in Lisbon.", False),
        (["9"], [], "The user's son is 19.", False),
    ],
)
def test_a_statement_tells_a_fact_by_whole_words(
    words: list[str], other: list[str], statement: str, told: bool
) -> None:
    fact = Label.model_validate({"kinds": [Kind.PERSON], "about": "", "words": words, "not": other})
    assert fact.is_stated_by(statement) is told


def test_one_statement_may_tell_two_facts() -> None:
    found = evaluated(message("My sister Mary lives in Lisbon", [label(["sister", "Mary"]), label(["Mary", "Lisbon"])]))
    assert (found.whole.facts, found.whole.found, found.whole.statements, found.whole.right) == (2, 2, 1, 1)


def test_what_is_merely_tolerated_counts_neither_way() -> None:
    found = evaluated(message("My sister Mary lives in Lisbon", [], tolerated=[label(["Mary"])]))
    assert (found.whole.tolerated, found.whole.wrong, found.whole.precision) == (1, 0, None)


def test_what_is_given_to_the_wrong_person_is_a_wrong_attribution() -> None:
    found = evaluated(message("My sister Mary lives in Lisbon", [label(["Lisbon"], ["sister"])]))
    assert (found.whole.misgiven, found.whole.precision) == (1, 0.0)


def test_a_statement_from_a_trap_is_junk() -> None:
    found = evaluated(message("My sister Mary lives in Lisbon", [], trap="fiction"))
    assert (found.whole.junk, found.whole.wrong) == (1, 1)


def test_a_secret_is_counted_as_dropped_and_not_as_a_statement() -> None:
    found = evaluated(message("My password is hunter2", []))
    assert found.whole.statements == 0
    assert [outcome.partition(":")[0] for outcome in found.outcomes] == ["drop"]


def test_a_day_is_compared_with_the_one_that_is_meant() -> None:
    right, wrong = (
        evaluated(message("My driving test is next Friday", [label(["driving"], day=day)]))
        for day in ("2026-03-20", "2026-03-13")
    )
    assert (right.dates, right.right_dates, wrong.right_dates) == (1, 1, 0)


# The command -----------------------------------------------------------------------------------------------------


def test_the_table_has_a_row_for_each_category_and_kind(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps(message("My sister Mary lives in Lisbon", [label(["Mary"])])))
    table = ran(path)
    assert "one.jsonl, read by rules/37: 1 messages" in table
    for row in ("\npeople ", "\nperson ", "\nall "):
        assert row in table
    assert "propose: about another person" in table


def test_the_misses_are_listed_on_request(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps(message("hello there", [label(["Mary"])])))
    assert "- x missed:" in ran(path, "--misses")
    assert "missed:" not in ran(path)


def test_a_line_that_is_no_labeled_message_is_named(tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text('{"id": 1}\n')
    with pytest.raises(UnknownLabelsError, match=r"broken.jsonl, line 1"):
        read_labels(path)
    with pytest.raises(CommandError, match="line 1"):
        ran(path)


def test_conversations_give_a_sample_to_check_and_its_sum(tmp_path: Path) -> None:
    said = [
        {"id": n, "role": "user", "date": "March-15-2024", "session": 1, "text": f"My sister {name} lives in Lisbon"}
        for n, name in enumerate(("Ana", "Bea", "Eva"))
    ]
    talk, out = tmp_path / "talk.json", tmp_path / "sample.jsonl"
    talk.write_text(json.dumps({"conversations": [{"id": "a", "messages": said, "questions": []}]}))
    assert "3 user messages, 3 proposals" in ran(talk, "--sample", "2", "--out", out)
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(lines) == 2
    assert all(line["quote"] in line["message"] for line in lines)
    with pytest.raises(CommandError, match="verdict"):
        ran("--checked", out)
    out.write_text("\n".join(json.dumps({**line, "verdict": "junk"}) for line in lines))
    assert "2 proposals; right 0.0 %, junk 100.0 %" in ran("--checked", out)


# The rule engine on the labeled set -----------------------------------------------------------------------------


def by_category(found: Evaluation) -> dict[str, str]:
    """Found of labeled facts, and wrong of all statements, for each category; without any message's words."""
    return {
        name: f"{tally.found}/{tally.facts} found, {tally.wrong}/{tally.statements} wrong"
        for name, tally in found.by_category.items()
        if tally.wrong or tally.found < tally.facts
    }


@pytest.mark.parametrize(
    ("path", "precision", "recall"),
    [
        (DEVELOPMENT, 0.84, 0.65),
        (FRESH, 0.82, 0.52),
    ],
    ids=["development", "fresh development"],
)
def test_the_rule_engine_keeps_its_figures(path: Path, precision: float, recall: float) -> None:
    found = evaluate_messages(path.name, read_labels(path)[::2], RuleEngine())  # of each category, every second message
    assert found.whole.precision is not None
    assert found.whole.recall is not None
    assert found.whole.precision >= precision, by_category(found)
    assert found.whole.recall >= recall, by_category(found)
