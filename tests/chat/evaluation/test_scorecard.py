"""The scorecard keeps what a run didn't measure, and links to code and tests that exist."""

import re

import pytest
from django.conf import settings

from chat.evaluation.deletion import Step
from chat.evaluation.scorecard import PAGE, render

TABLE = "| What | Engine | Passed |\n|---|---|---|\n"
MECHANISMS = re.findall(r"^\| ([^|]+) \| `([\w/.]+): (\w+)` \| `([\w/.]+)` \|$", PAGE.read_text(), re.MULTILINE)


def test_a_run_replaces_its_own_figures_and_keeps_the_others() -> None:
    good, bad = Step("fact", "said", (), 1.0), Step("topic", "import", ("in the prompt",), 1.0)
    before = f"# Page\n\n{TABLE}| Deletion, steps | rules | 9 of 9 |\n| Forget scope | model | 8 of 9 |\n\nRest\n"
    after = render("rules", {"deletion": [good, bad]}, before)
    figures = "| Deletion, kinds of memory | rules | 1 of 2 |\n| Deletion, steps | rules | 1 of 2 |\n"
    assert after == f"# Page\n\n{TABLE}{figures}| Forget scope | model | 8 of 9 |\n\nRest\n"
    assert render("rules", {}, after) == after


def test_the_page_in_the_docs_is_short_and_has_the_figures() -> None:
    page = PAGE.read_text()
    assert render("rules", {}, page) == page
    assert len(page.split()) < 500


def test_there_are_seven_mechanisms() -> None:
    assert len(MECHANISMS) == 7


@pytest.mark.parametrize(("what", "file", "name", "test"), MECHANISMS)
def test_each_mechanism_has_its_code_and_its_test(what: str, file: str, name: str, test: str) -> None:
    text = (settings.BASE_DIR / file).read_text()
    assert f"def {name}(" in text or f"class {name}(" in text, what
    assert "def test_" in (settings.BASE_DIR / test).read_text()
