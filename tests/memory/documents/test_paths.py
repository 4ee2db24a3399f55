"""A typed path goes into an ltree and comes back unchanged, whatever script its names are in."""

import unicodedata

import pytest
from django.core.exceptions import ValidationError
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import User
from memory.models import Document
from memory.models.paths import MAX_DEPTH, MAX_LABEL, decode, encode

# Surrogates aren't characters; NUL can't be stored; a slash ends a name.
characters = st.characters(exclude_categories=["Cs"], exclude_characters="/\x00")
names = st.text(characters, min_size=1, max_size=40).filter(str.strip)
paths = st.lists(names, min_size=1, max_size=6).map(lambda parts: "/" + "/".join(parts))


def composed(path: str) -> str:
    """One spelling for letters that Unicode can write in two ways."""
    return unicodedata.normalize("NFC", path)


@given(paths)
def test_any_path_comes_back_as_it_was_typed(path: str) -> None:
    assert decode(encode(path)) == composed(path)


@given(paths, paths)
def test_two_paths_never_share_an_ltree(one: str, other: str) -> None:
    assert (encode(one) == encode(other)) == (composed(one) == composed(other))


@given(paths)
def test_an_ltree_holds_only_what_postgresql_allows(path: str) -> None:
    for label in encode(path).split("."):
        assert label
        assert all(char in "-_" or (char.isascii() and char.isalnum()) for char in label)


@pytest.mark.parametrize(
    ("path", "ltree"),
    [
        ("/profile/identity", "profile.identity"),
        ("/profile/people/Sarah Chen", "profile.people.Sarah_20_Chen"),
        ("/projects/2026-11", "projects.2026-11"),
        ("/projects/a_20_b", "projects.a_5f_20_5f_b"),
        ("/São João", "S_e3_o_20_Jo_e3_o"),
        ("/🐝", "_1f41d_"),
    ],
)
def test_plain_names_stay_readable(path: str, ltree: str) -> None:
    assert encode(path) == ltree


NO_PATHS = {
    "empty": "",
    "root": "/",
    "no slash": "profile",
    "two slashes": "//",
    "trailing slash": "/profile/",
    "nameless part": "/profile//people",
    "blank part": "/ /x",
    "NUL": "/a\x00b",
    "too deep": "/a" * (MAX_DEPTH + 1),
    "too long": "/" + "ü" * MAX_LABEL,
}


@pytest.mark.parametrize("path", NO_PATHS.values(), ids=NO_PATHS)
def test_what_is_no_path_is_refused_with_a_sentence(path: str) -> None:
    with pytest.raises(ValidationError, match=r"^\[['\"][A-Z].*\.['\"]\]$"):
        encode(path)


def test_postgresql_keeps_any_name(alice: User) -> None:
    typed = ["/profile/people/Sarah Chen", "/日本語/メモ_1", "/🐝/Ø & Co. (100 %)", "/" + "x" * MAX_LABEL]
    Document.objects.bulk_create(Document(user=alice, path=path, title="t") for path in typed)

    assert set(Document.objects.values_list("path", flat=True)) == set(typed)
    assert [Document.objects.get(path=path).path for path in typed] == typed


def test_a_folder_holds_itself_and_what_lies_below(alice: User) -> None:
    for path in ("/profile", "/profile/identity", "/profile/people/Ana", "/profile-old", "/projects/profile"):
        Document.objects.create(user=alice, path=path, title="t")

    under = {document.path for document in Document.objects.for_user(alice).under("/profile")}

    assert under == {"/profile", "/profile/identity", "/profile/people/Ana"}


LOOK_ALIKE = {
    "case": ("/Notes", "/notes"),
    "dots": ("/a.b/c", "/a/b/c", "/a.b.c"),
    "blanks": ("/a b", "/a  b", "/a b ", "/ a b", "/a\u00a0b", "/a\tb"),
    "hyphens and underscores": ("/a-b", "/a_b", "/a–b"),
    "what the encoding itself writes": ("/a b", "/a_20_b", "/a_5f_20_5f_b", "/_", "/__"),
    "letters of two alphabets": ("/Anna", "/Аnna"),
    "emoji and their parts": ("/👩‍👩‍👧", "/👩👩👧", "/👍", "/👍🏽"),
    "writing from right to left": ("/שלום", "/םולש", "/\u202eabc", "/abc"),
    "digits of two scripts": ("/12", "/١٢"),
    "dots alone": ("/.", "/..", "/..."),
}
"""Names that a file system, a slug or an eye may confuse."""


@pytest.mark.parametrize("typed", LOOK_ALIKE.values(), ids=LOOK_ALIKE)
def test_names_that_look_alike_are_different_documents(alice: User, typed: tuple[str, ...]) -> None:
    Document.objects.bulk_create(Document(user=alice, path=path, title="t") for path in typed)

    assert [Document.objects.get(path=path).path for path in typed] == list(typed)


def test_one_name_in_two_spellings_is_one_document(alice: User) -> None:
    """São written with the single letter ã, and with a and a tilde: keyboards and file systems differ."""
    Document.objects.create(user=alice, path="/Sa\u0303o", title="t")

    assert Document.objects.get(path="/S\u00e3o").path == "/S\u00e3o"
