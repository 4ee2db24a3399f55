"""Lines with and without marks: what the librarian may touch, and that a user's words always survive."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.documents.merge import taken_out, three_way_merge, without
from memory.text.fact_lines import (
    diff_fact_lines,
    fact_line,
    facts_in,
    line_of,
    statement_as_line,
    statement_of,
    sync_fact_lines,
    value_of,
    with_marks_of,
    without_marks,
    words_of,
)

# A line and its mark ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "words", "fact"),
    [
        ("- Lives in Lisbon. ^fact-12", "Lives in Lisbon.", 12),
        ("  * **Lives**  in Lisbon.\t^fact-12  ", "Lives in Lisbon.", 12),
        ("^fact-12", "", 12),
        ("Lives in Lisbon.^fact-12", "Lives in Lisbon.^fact-12", None),
        ("About ^fact-12 and more", "About ^fact-12 and more", None),
        ("- Said so. ^said-7", "Said so.", None),
        ("2^10 is 1024", "2^10 is 1024", None),
    ],
)
def test_a_line_is_taken_apart(raw: str, words: str, fact: int | None) -> None:
    assert (line_of(raw).words, line_of(raw).fact) == (words, fact)


def test_marks_are_not_shown_and_all_else_is() -> None:
    assert (
        without_marks("# Me\n- A. ^fact-1\n\n- B ^said-22 \r\n^fact-x\n") == "# Me\n- A.\n\n- B ^said-22 \r\n^fact-x\n"
    )


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        ("The user lives in Lisbon.", "Lives in Lisbon."),
        ("The user's sister is called Mary.", "Sister is called Mary."),
        ("I moved to Porto.", "I moved to Porto."),
        ("The user ", "The user"),
        ("The user likes ^fact-9", "Likes"),
    ],
)
def test_a_statement_as_a_line(statement: str, line: str) -> None:
    assert statement_as_line(statement) == line


@pytest.mark.parametrize(
    ("words", "before", "statement"),
    [
        ("Lives in Porto.", "The user lives in Lisbon.", "The user lives in Porto."),
        ("Sister is called Maria.", "The user's sister is called Mary.", "The user's sister is called Maria."),
        ("I moved to Porto.", "The user lives in Lisbon.", "I moved to Porto."),
        ("In Porto.", "I moved to Porto.", "In Porto."),
    ],
)
def test_reworded_lines_keep_their_subject_where_it_is_the_same(words: str, before: str, statement: str) -> None:
    assert statement_of(words, before) == statement


@pytest.mark.parametrize(
    ("words", "value"),
    [("Lives in Porto.", "Porto"), ("Lives in New York.", "New York"), ("Moved to Porto.", ""), ("Lives in .", "")],
)
def test_the_value_is_known_where_nothing_else_changed(words: str, value: str) -> None:
    assert value_of(words, "The user lives in Lisbon.", "Lisbon") == value


def test_a_hundred_thousand_blanks_take_no_time() -> None:
    began = time.monotonic()
    for text in (" " * 100_000, " ^fact-" * 20_000, "\t ^" * 50_000):
        without_marks(text)
        facts_in(text)
    assert time.monotonic() - began < 2


# Editing without marks -------------------------------------------------------------------------------------------

LEARNED = "I sing in a choir.\n\n- Lives in Lisbon. ^fact-1\n-  **Vegetarian.**  ^fact-2"
OWN = "I sing in a choir."


@pytest.mark.parametrize(
    ("edited", "marked"),
    [
        (without_marks(LEARNED), LEARNED),
        (LEARNED, LEARNED),
        (f"{OWN}\n\n- Lives in Porto.\n- Vegan.", f"{OWN}\n\n- Lives in Porto. ^fact-1\n- Vegan. ^fact-2"),
        (f"{OWN}\n- Vegan.\n- Lives in Porto.", f"{OWN}\n- Vegan. ^fact-2\n- Lives in Porto. ^fact-1"),
        (f"{OWN}\n\n- Vegetarian.", f"{OWN}\n\n- Vegetarian. ^fact-2"),
        ("My garden has roses.\n- Dances.", "My garden has roses.\n- Dances."),
        (f"- Lives in Lisbon.\n{OWN}", f"- Lives in Lisbon. ^fact-1\n{OWN}"),
        ("- Lives in Porto. ^fact-1\n- Lives in Lisbon.", "- Lives in Porto. ^fact-1\n- Lives in Lisbon."),
        ("", ""),
    ],
)
def test_an_edit_without_marks_keeps_those_of_kept_and_reworded_lines(edited: str, marked: str) -> None:
    assert with_marks_of(LEARNED, edited) == marked


def test_an_own_line_in_the_place_of_a_learned_one_gets_no_mark() -> None:
    before = "I sing in a choir.\n- Sings in a choir. ^fact-1"
    assert with_marks_of(before, "I sing in a band.") == "I sing in a band."


@given(st.lists(st.sampled_from(["- A. ^fact-1", "*  B.  ^fact-2", "Own.", "", "A.", "- Said. ^said-3"])))
def test_what_is_saved_as_it_was_shown_is_the_same(lines: list[str]) -> None:
    before = "\n".join(lines)
    assert with_marks_of(before, without_marks(before)) == before


def test_a_document_of_many_lines_is_marked_in_no_time() -> None:
    before = "\n".join(f"- Fact {number} of many. ^fact-{number}" for number in range(2_000))
    began = time.monotonic()
    with_marks_of(before, without_marks(before).replace("many", "a lot"))
    with_marks_of(before, "x\n" * 10_000)
    assert time.monotonic() - began < 3


# The librarian writes --------------------------------------------------------------------------------------------


def test_an_heir_takes_the_place_of_the_line_it_supersedes() -> None:
    text = "One.\n- A. ^fact-1\nTwo.\n- B. ^fact-2"
    assert sync_fact_lines(text, {2: "B.", 3: "C."}, {1: 3}) == "One.\n- C. ^fact-3\nTwo.\n- B. ^fact-2"


def test_an_heir_that_has_a_line_leaves_the_old_place_empty() -> None:
    assert sync_fact_lines("- A. ^fact-1\n- C. ^fact-3", {3: "C."}, {1: 3}) == "- C. ^fact-3"


def test_new_lines_stand_with_their_kind() -> None:
    assert sync_fact_lines("One.\n- A. ^fact-1\n\nTwo.", {1: "A.", 2: "B."}, {}) == (
        "One.\n- A. ^fact-1\n- B. ^fact-2\n\nTwo."
    )


def test_a_statement_that_changed_is_told_anew_and_a_line_that_tells_it_stays_as_it_looks() -> None:
    assert sync_fact_lines("*  **A.**  ^fact-1", {1: "A."}, {}) == "*  **A.**  ^fact-1"
    assert sync_fact_lines("*  **A.**  ^fact-1", {1: "B."}, {}) == "- B. ^fact-1"


prose = st.text(st.sampled_from("abc *-#.\t🐝"), max_size=12)
marks = st.integers(1, 6)
any_line = st.one_of(prose, st.builds(lambda fact, words: f"- {words or 'x'} ^fact-{fact}", marks, prose))
texts = st.lists(any_line, max_size=10).map("\n".join)
facts = st.dictionaries(marks, st.sampled_from(["The user lives in A.", "B.", "C c."]), max_size=5)


def persons(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip() and line_of(line).fact is None]


@given(texts, facts, st.dictionaries(marks, marks, max_size=4))
def test_weaving_leaves_a_persons_lines_alone_and_tells_each_fact_once(
    text: str, holds: dict[int, str], heirs: dict[int, int]
) -> None:
    new = sync_fact_lines(text, holds, heirs)
    assert persons(new) == persons(text)
    assert sorted(facts_in(new)) == sorted(holds)
    assert len([line for line in new.split("\n") if line_of(line).fact]) == len(holds)
    assert sync_fact_lines(new, holds, heirs) == new


@given(texts, texts, st.dictionaries(marks, marks, max_size=3))
def test_an_edit_accounts_for_every_fact_and_loses_no_word(before: str, after: str, heirs: dict[int, int]) -> None:
    edit = diff_fact_lines(before, after, heirs)
    was = set(facts_in(before))
    assert set(facts_in(edit.text)) == was - edit.removed
    assert set(edit.reworded) <= was - edit.removed
    said = [words for line in after.split("\n") if (words := words_of(without_marks(line)))]
    kept = [words for line in edit.text.split("\n") if (words := words_of(without_marks(line)))]
    assert kept == said


# Both write ------------------------------------------------------------------------------------------------------

lines = st.lists(st.sampled_from(["a", "b", "c", "d", "e", ""]), max_size=8).map("\n".join)
mine = st.lists(st.sampled_from(["a", "b", "c", "mine 1", "mine 2", "mine 3", ""]), max_size=8).map("\n".join)


def is_within(part: list[str], whole: list[str]) -> bool:
    rest = iter(whole)
    return all(line in rest for line in part)


@given(lines, mine, lines)
def test_what_a_person_wrote_survives_a_merge_in_order(base: str, person: str, librarian: str) -> None:
    both = three_way_merge(base, person, librarian).split("\n")
    own = [line for line in person.split("\n") if line.startswith("mine")]
    assert is_within(own, both)
    assert [line for line in both if line.startswith("mine")] == own


@given(lines, mine)
def test_merging_with_one_who_did_nothing_changes_nothing(base: str, other: str) -> None:
    assert three_way_merge(base, other, base) == other
    assert three_way_merge(base, base, other) == other


@given(mine)
def test_what_a_person_took_out_does_not_return(person: str) -> None:
    base = "x\ny\nz"
    gone = {"x", "y", "z"} - set(person.split("\n"))
    assert not gone & set(three_way_merge(base, person, "x\ny\nnew\nz").split("\n"))


def test_both_rewording_one_line_leaves_the_persons_words() -> None:
    assert three_way_merge("One.\nTwo.", "One.\nTwo, I say.", "One.\nTwo, it seems.\nThree.") == "One.\nTwo, I say."


def test_lines_that_a_person_took_out_are_known_from_the_history() -> None:
    versions = [(False, "- A\n- B\n- C"), (True, "- A\n- C"), (False, "- A\n- C\n- D"), (True, "- D\n- B, I say")]
    assert taken_out(versions) == {"A", "B", "C"}
    assert without("- **A**\n- E", taken_out(versions)) == "- E"
    assert taken_out([*versions, (True, "A")]) == {"B", "B, I say", "C", "D"}


def test_a_librarian_who_takes_out_its_own_line_may_write_it_again() -> None:
    assert taken_out([(False, "A"), (False, "B")]) == frozenset()


def test_a_facts_line_reads_back_as_that_fact() -> None:
    assert line_of(fact_line(7, "The user sings.")).fact == 7
