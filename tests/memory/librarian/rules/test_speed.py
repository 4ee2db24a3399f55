"""Reading is linear, by the clock; the form of every pattern is in tests/test_patterns.py."""

import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from time import thread_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as bounded
from hypothesis import strategies as st

from memory.librarian import rules
from memory.librarian.rules import engine
from memory.librarian.rules.clauses import MAX_LINE, MAX_SENTENCE, sentences
from memory.librarian.rules.engine import RuleEngine
from memory.network import reader
from recall.cpu_limit import CpuLimit, TookTooLongError
from tests.memory.librarian.rules.test_engine import read
from tests.networks import Remembering

SIZE = 10_000
"""Characters: reading them in quadratic time takes a third of a second or more."""
QUICK = 0.1
"""Seconds of processor time below which growth isn't looked at."""
PIECES = ["a ", "I ", "my ", "I am ", "my sister ", "and ", ", ", ". ", "( ", '"', "'", "x", "\n", "I live in ", "A: ",
          "kids: ", "no ", "if ", "Anna ", "I'm ", "- ", "?! ", "; ", "who is my ", "called ", "1 ", "…", " ", "never ",
          "as a ", "on ", "\t", "é", "“", "\"I'm “", "my dog (", "really ", "and I ", "is "]  # fmt: skip


def patterns() -> dict[re.Pattern[str], str]:
    """Every compiled pattern of the package, with its name."""
    return {
        one: f"{module.name}.{name}"
        for module in iter_modules(rules.__path__, f"{rules.__name__}.")
        for name, value in vars(import_module(module.name)).items()
        for one in found_in(value)
    }


def found_in(value: Any) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from found_in(one)


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Remembering, "run", lambda self, *asked: self._session.run(*asked))  # none is known
        read("I live in Porto.")  # loads the model, and compiles the table
        yield


def is_linear(reads: Callable[[str], object], piece: str, frame: str = "{}") -> bool:
    """Whether four times the text takes less than eight times as long: a square would take sixteen, on any machine."""

    def seconds(size: int, attempt: int) -> float:
        text = frame.format(piece * (size // len(piece) - attempt))  # another text each time: what was read is kept
        began = thread_time()
        reads(text)
        return thread_time() - began

    whole = seconds(SIZE, 0)
    return whole < QUICK or any(min(whole, seconds(SIZE, n)) < 8 * seconds(SIZE // 4, n) for n in (1, 2, 3))


@pytest.mark.parametrize("piece", PIECES)
def test_what_anything_takes_grows_with_its_length(piece: str) -> None:
    assert is_linear(read, piece)


@given(st.lists(st.sampled_from(PIECES), min_size=2, max_size=4))
@bounded(max_examples=25, deadline=None)
def test_so_do_mixtures(pieces: list[str]) -> None:
    assert is_linear(read, "".join(pieces))


def test_the_sentences_of_a_long_line_stay_whole() -> None:
    assert {sentence.text for sentence in sentences("I live in Porto. " * (3 * MAX_LINE // 17))} == {"I live in Porto."}


def test_a_square_is_not_taken_for_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.QUICK", QUICK / 5)  # a square of a second would be made five times

    def square(text: str) -> None:
        re.search(r"[xz]*y", text.replace("a", "x"))

    assert not is_linear(square, "a")
    assert is_linear(lambda text: [re.search("y", text) for _ in range(20_000)], "a")


def test_a_pattern_is_quick_on_whatever_a_sentence_holds() -> None:
    for pattern, name in patterns().items():
        for piece in PIECES:
            text = piece * (MAX_SENTENCE // len(piece))
            began = thread_time()
            pattern.search(text)
            assert thread_time() - began < 0.1, (name, piece)


def test_a_message_that_takes_too_long_is_skipped_and_the_next_one_read(monkeypatch: pytest.MonkeyPatch) -> None:
    class Impatient(CpuLimit):
        def check(self) -> None:
            limits.append(self)
            if len(limits) == 1:
                raise TookTooLongError

    limits: list[CpuLimit] = []
    monkeypatch.setattr(engine, "CpuLimit", Impatient)
    assert [fact.value for fact in read("I live in Porto.", "I live in Lyon.")] == ["Lyon"]
    assert RuleEngine().version == "rules/37"


def test_building_the_network_takes_no_messages_time(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MODEL_CACHE_DIR = tmp_path
    monkeypatch.setattr(engine, "CpuLimit", lambda: CpuLimit(0.2))
    reader._load.clear()

    assert [fact.value for fact in read("I live in Lyon.")] == ["Lyon"]
    assert len(list(tmp_path.glob("tagger-*.onnx"))) == len(list(tmp_path.glob("claims-*.onnx"))) == 1
    assert len(reader._load._loaded) == 2


def test_the_time_of_a_message_is_its_own_processor_time() -> None:
    CpuLimit().check()
    with pytest.raises(TookTooLongError):
        CpuLimit(seconds=0.0, started=thread_time() - 1).check()
