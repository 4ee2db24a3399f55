"""A name that was just said wrong, and the right one."""

import pytest

from memory.text.mended_names import find_mended_name, name_like, with_cue_first


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Adelaide, I mean. Wrong A.", "Adelaide"),
        ("ah autocorrect. Matija is his name", "Matija"),
        ("*Bram", "Bram"),
        ("oops, Lena!", "Lena"),
        ("*Özge", "Özge"),
        ("gah no, Lena", "Lena"),
        ("no, I meant Lena", "Lena"),
        ("Lindqvist!! Ms Lindqvist.", "Lindqvist"),
        ("sorry, Lena.", ""),
        ("Adelaide is lovely in March", ""),
        ("I mean it", ""),
    ],
)
def test_a_message_that_opens_with_the_right_name_mends_one(text: str, name: str) -> None:
    found = find_mended_name(text)
    assert (found["name"] if found else "") == name


@pytest.mark.parametrize(
    ("name", "text", "wrong"),
    [
        ("Adelaide", "The user's sister lives in Auckland. The user lives in Derry.", "Auckland"),
        ("Bram", "I do product, Brian does engineering", "Brian"),
        ("Matija", "Matej and Matea are here", ""),
        ("London", "We live in Leeds", ""),
        ("Mara", "see you in March", ""),
    ],
)
def test_it_was_meant_for_the_only_name_like_it(name: str, text: str, wrong: str) -> None:
    assert name_like(name, text) == wrong


@pytest.mark.parametrize(
    ("text", "with_cue"),
    [
        ("Adelaide, I mean", "no, I meant Adelaide"),
        ("5 March, sorry!", "no, I meant 5 March"),
        ("Wrong chat, sorry", "Wrong chat, sorry"),
        ("Seriously, I mean", "Seriously, I mean"),
        ("I would rather", "I would rather"),
        ("I mean Bisto, autocorrect", "I mean Bisto, autocorrect"),
        ("What do you mean? Sorry", "What do you mean? Sorry"),
    ],
)
def test_a_cue_that_comes_last_is_put_first(text: str, with_cue: str) -> None:
    assert with_cue_first(text) == with_cue
