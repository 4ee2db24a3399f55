"""What later messages change of known facts is counted against what their authors meant."""

from pathlib import Path

import pytest
from django.core.management import call_command

from memory.evaluation.librarian.labels import UnknownLabelsError
from memory.evaluation.librarian.updates import evaluate_updates, read_messages
from memory.updates.pairs import OUTCOMES

DATA = Path(__file__).parents[2] / "data"
PAIRS = (
    "replaced\tThe user lives in [Leeds].\tI've moved to {Whitby}. Any tips for moths?",
    "ended\tThe user works at Acme.\tI left Acme in March, how do I word that?",
    "wrong\tThe user has a sister.\tI misspoke, I don't have a sister.",
    "holds\tThe user lives in Leeds.\tHow is the weather in Whitby?",
    "holds\tThe user lives in Leeds.\tMy sister has moved to Whitby.",
)


def written(folder: Path, *lines: str) -> Path:
    path = folder / "pairs.tsv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_the_rules_change_what_the_message_changes_and_nothing_else(tmp_path: Path) -> None:
    counts = evaluate_updates(read_messages(written(tmp_path, *PAIRS)))

    assert dict(counts.pairs) == {"replaced": 1, "ended": 1, "wrong": 1, "holds": 2}
    assert {outcome: counts.changed[outcome] for outcome in OUTCOMES} == {
        "holds": 0, "ended": 1, "wrong": 1, "replaced": 1,
    }  # fmt: skip
    assert counts.right == 1
    assert "precision 100.0 %, recall 100.0 %, 1 of 1 replaced with the right value" in str(counts)


def test_a_change_that_is_missed_or_invented_counts_against_the_rules(tmp_path: Path) -> None:
    told = str(evaluate_updates(read_messages(written(tmp_path, f"ended\t{PAIRS[3][6:]}", f"holds\t{PAIRS[1][6:]}"))))
    assert "precision 0.0 %, recall 0.0 %" in told


@pytest.mark.parametrize(
    "line",
    [
        "over\tThe user lives in Leeds.\tI've moved.",
        "ended\tThe user lives in Leeds.",
        "replaced\tThe user lives in [Leeds].\tIt's Whitby now.",
        "holds\tThe user lives in [Leeds].\tStill there.",
    ],
)
def test_a_line_that_is_no_pair_is_refused_with_its_words(tmp_path: Path, line: str) -> None:
    with pytest.raises(UnknownLabelsError, match="Leeds"):
        read_messages(written(tmp_path, line))


def test_every_message_of_the_sets_can_be_read() -> None:
    files = [*(DATA / "updates").iterdir(), *DATA.glob("updates_*.t*")]
    messages = [said for path in files for said in read_messages(path)]
    assert len(messages) > 9_000
    changed = [pair.pair.fact in said.facts for said in messages for pair in said.changed]
    assert changed.count(True) > 3_000
    assert changed.count(False) > 1_000, "earlier messages"


def test_the_command_prints_a_row_for_each_outcome(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("evaluate-librarian", str(written(tmp_path, *PAIRS)))
    assert "replaced     1 of    1 changed, 0 asked" in capsys.readouterr().out
