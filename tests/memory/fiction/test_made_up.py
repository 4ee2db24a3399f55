"""What is made up is told from what is said in earnest, in messages that the network has not seen."""

from pathlib import Path

from memory.fiction.made_up import is_made_up, made_up, read_line

UNSEEN = Path(__file__).parents[1] / "data" / "made_up_unseen.txt"
"""200 messages by an author whose messages it was not trained on."""


def test_most_of_what_is_made_up_is_told_and_little_else() -> None:
    lines = [read_line(line) for line in UNSEEN.read_text("utf-8").splitlines() if line.strip()]
    told = [(line.label == 1, is_made_up(line.pieces.text)) for line in lines]
    assert told.count((True, True)) >= 0.8 * sum(one for one, _ in told)
    assert told.count((True, True)) >= 0.8 * sum(one for _, one in told)


def test_a_role_play_lasts_until_it_is_ended() -> None:
    said = ["let's play: you're a waiter, I'm a pirate called Tim", "I order rum", "ok, game over", "I live in Ghent"]
    assert list(made_up(said)) == [True, True, False, False]


def test_what_has_no_words_is_not_made_up() -> None:
    assert not is_made_up("")
    assert not is_made_up(" \n")


def test_a_line_without_a_sign_is_said_in_earnest() -> None:
    assert [read_line(line).label for line in ("~ I'm a pirate", "= I'm a nurse", "I'm a nurse")] == [1, 0, 0]
    assert read_line("I'm a nurse").pieces.text == "I'm a nurse"
    assert read_line("~ I'm a pirate").example.targets[0][:2] == [1, -1]
