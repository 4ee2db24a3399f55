"""What is made up, and what states nothing, is told from what is said in earnest."""

from pathlib import Path

from memory.speech_acts.labeled import read_line
from memory.speech_acts.made_up import is_made_up, made_up
from memory.speech_acts.network import states_nothing

DATA = Path(__file__).parents[1] / "data"
"""Messages that the network has not learned from."""


def test_most_of_what_is_made_up_is_told_and_little_else() -> None:
    lines = [read_line(line) for line in (DATA / "made_up_unseen.txt").read_text("utf-8").splitlines() if line.strip()]
    told = [(line.labels[0] == 1, is_made_up(line.pieces.text)) for line in lines]
    assert told.count((True, True)) >= 0.8 * sum(one for one, _ in told)
    assert told.count((True, True)) >= 0.9 * sum(one for _, one in told)


def test_most_of_what_states_nothing_is_told_and_little_else() -> None:
    lines = [read_line(line) for line in (DATA / "stating_dev.txt").read_text("utf-8").splitlines() if line.strip()]
    told = [(line.labels[1] == 1, states_nothing(line.pieces.text)) for line in lines]
    assert told.count((True, True)) >= 0.7 * sum(one for one, _ in told)
    assert told.count((True, True)) >= 0.9 * sum(one for _, one in told)


def test_a_role_play_lasts_until_it_is_ended() -> None:
    said = ["let's play: you're a waiter, I'm a pirate called Tim", "I order rum", "ok, game over", "I live in Ghent"]
    assert list(made_up(said)) == [True, True, False, False]
    for parts in ("Let's rehearse. You play the nurse, I play Ms Rae.", "practise: I play the boss, you a cook"):
        assert list(made_up([parts, "I'm 70 and I have a bad hip"])) == [True, True]
    assert list(made_up([*said[:2], "haha ok stop. thanks, any tips for my garden?"])) == [True, True, False]


def test_what_has_no_words_is_not_made_up() -> None:
    assert not is_made_up("")
    assert not is_made_up(" \n")


def test_what_is_given_to_be_kept_is_meant_in_earnest() -> None:
    assert not is_made_up("people for the house, saving these here. plumber: Stan. window cleaner: Ali, every 6 weeks.")
    assert is_made_up("Translate into Spanish and keep it formal: 'I live in Rome and I am a nurse.'")
    assert is_made_up("Save this chapter: Sir Roland lives in a tower of glass and fears nothing but owls.")


def test_context_is_meant_in_earnest_and_what_opens_as_a_jest_is_not() -> None:
    assert not is_made_up("For context before I ask: I'm 34, left-handed, a locksmith in Graz, and have two kids, Mila"
                          " (6) and Jonas (3). Which guitar do I buy for a beginner like me?")  # fmt: skip
    assert not is_made_up("Hi! So, context dump: I'm Zodwa, 41, I run a food truck in Durban with my husband Themba.")
    assert is_made_up("For context in the game: I'm a pirate of 34, a locksmith in Tortuga. Continue the story.")
    jest = "Oh sure, I'm a millionaire, I have a butler called Jeeves, that's why I ask for the CHEAPEST way to Whitby."
    assert is_made_up(jest)
    assert not is_made_up("Oh sure, I have two cats, Milo and Otis.")
    assert is_made_up("write a cover letter for a made up applicant, nurse, ten years experience, from Boston")


def test_a_line_without_a_sign_is_said_in_earnest() -> None:
    lines = ("~ I'm a pirate", "= I'm a nurse", "I'm a nurse", "+ I'm a nurse", "- thanks")
    assert [read_line(line).labels for line in lines] == [(1, -1), (0, -1), (0, -1), (0, 0), (-1, 1)]
    assert read_line("I'm a nurse").pieces.text == "I'm a nurse"
    assert [target[:2] for target in read_line("+ I'm a nurse").example.targets] == [[0, -1], [0, -1]]
