"""Documents are moved, renamed and deleted as whole branches, or not at all; paths imply folders."""

import unicodedata

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from accounts.models import User
from memory.documents import revisions, tree
from memory.models import Chunk, Document, Revision
from memory.models.paths import MAX_DEPTH, decode, encode

GARDEN = ("/projects/garden", "/projects/garden/roses/red", "/projects/garden/roses/white", "/projects/house")


def make(user: User, *paths: str) -> None:
    Document.objects.bulk_create(Document(user=user, path=path, title=tree.name_of(path)) for path in paths)


def paths_of(user: User) -> set[str]:
    return set(Document.objects.for_user(user).values_list("path", flat=True))


# Listing ---------------------------------------------------------------------------------------------------------


def test_a_folder_is_listed_one_level_deep_with_counts(alice: User, bob: User) -> None:
    make(alice, *GARDEN, "/notes")
    make(bob, "/projects/secret")

    top = tree.list_folder(alice)
    inside = tree.list_folder(alice, "/projects")

    assert [(entry.name, entry.documents, entry.is_folder) for entry in top] == [
        ("notes", 1, False),
        ("projects", 4, True),
    ]
    assert [(entry.path, entry.documents, entry.document_id is not None) for entry in inside] == [
        ("/projects/garden", 3, True),
        ("/projects/house", 1, True),
    ]
    assert tree.list_folder(alice, "/nowhere") == []


def test_the_whole_tree_is_one_statement(alice: User, bob: User) -> None:
    make(alice, *GARDEN, "/notes")
    make(bob, "/projects/secret")

    with CaptureQueriesContext(
        connection,
    ) as asked:
        root = tree.whole(alice)

    assert len(asked) == 1
    assert root.documents == 5
    assert [child.name for child in root.below] == ["notes", "projects"]
    garden = root.below[1].below[0]
    assert (garden.path, garden.documents, garden.document is not None) == ("/projects/garden", 3, True)
    assert garden.below[0].document is None  # the roses' folder
    assert tree.whole(bob).documents == 1


def test_names_are_listed_without_regard_to_case(alice: User) -> None:
    make(alice, "/b", "/A", "/C", "/a")

    assert [entry.name for entry in tree.list_folder(alice)] == ["A", "a", "b", "C"]


# Moving ----------------------------------------------------------------------------------------------------------


def test_a_branch_moves_with_all_below_it(alice: User, bob: User) -> None:
    make(alice, *GARDEN)
    make(bob, *GARDEN)

    assert tree.move(alice, "/projects/garden", "/archive/2026/garden") == 3

    assert paths_of(alice) == {
        "/archive/2026/garden",
        "/archive/2026/garden/roses/red",
        "/archive/2026/garden/roses/white",
        "/projects/house",
    }
    assert paths_of(bob) == set(GARDEN)


def test_a_large_branch_moves_in_few_statements(alice: User) -> None:
    make(alice, *(f"/a/b{number % 7}/c{number}" for number in range(500)))

    with CaptureQueriesContext(connection) as asked:
        assert tree.move(alice, "/a", "/z") == 500

    assert len(asked) <= 8
    assert len(tree.list_folder(alice, "/z")) == 7


def test_a_folder_that_no_document_stands_at_is_renamed(alice: User) -> None:
    make(alice, *GARDEN)

    assert tree.move(alice, "/projects/garden/roses", "/projects/garden/my. Roses 🌹") == 2

    assert "/projects/garden/my. Roses 🌹/red" in paths_of(alice)


def test_a_title_that_was_the_name_follows_it_and_another_stays(alice: User) -> None:
    make(alice, "/a", "/b")
    Document.objects.filter(path="/b").update(title="My title")

    tree.move(alice, "/a", "/x")
    tree.move(alice, "/b", "/y")

    assert dict(Document.objects.values_list("path", "title")) == {"/x": "x", "/y": "My title"}


def test_a_branch_moves_up_over_its_own_names(alice: User) -> None:
    make(alice, "/a/a", "/a/a/a", "/a/a/a/b")

    tree.move(alice, "/a/a", "/a")

    assert paths_of(alice) == {"/a", "/a/a", "/a/a/b"}


def test_folders_merge_where_no_document_meets_another(alice: User) -> None:
    make(alice, "/a/x", "/b/y")

    tree.move(alice, "/a", "/b")

    assert paths_of(alice) == {"/b/x", "/b/y"}


def test_a_document_in_the_way_stops_the_whole_move(alice: User) -> None:
    make(alice, "/a/x", "/a/y", "/b/y")

    with pytest.raises(tree.NotMovedError, match=r"^There is already a document at /b/y\. Nothing was moved\.$"):
        tree.move(alice, "/a", "/b")

    assert paths_of(alice) == {"/a/x", "/a/y", "/b/y"}


def test_a_document_that_comes_between_stops_the_whole_move(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    make(alice, "/a/x", "/a/y", "/b/y")
    monkeypatch.setattr(tree, "_taken", lambda *looked_too_early: None)

    with pytest.raises(tree.NotMovedError, match="Nothing was moved"):
        tree.move(alice, "/a", "/b")

    assert paths_of(alice) == {"/a/x", "/a/y", "/b/y"}


NOT_MOVED = {
    "nothing there": ("/nowhere", "/b", "nothing at /nowhere"),
    "into itself": ("/a", "/a/b", "into itself"),
    "too deep": ("/a", "/d" * (MAX_DEPTH - 1), "too long"),
}


@pytest.mark.parametrize(("path", "target", "said"), NOT_MOVED.values(), ids=NOT_MOVED)
def test_what_cannot_be_moved_stays_with_a_sentence(alice: User, path: str, target: str, said: str) -> None:
    make(alice, "/a/x/y")

    with pytest.raises(tree.NotMovedError, match=said):
        tree.move(alice, path, target)

    assert paths_of(alice) == {"/a/x/y"}


def test_a_move_to_where_it_is_does_nothing(alice: User) -> None:
    make(alice, "/a")

    assert tree.move(alice, "/a", "/a") == 0


@pytest.mark.parametrize("name", ["", " ", "\x00"])
def test_what_is_no_name_is_refused(alice: User, name: str) -> None:
    make(alice, "/a")

    with pytest.raises(ValidationError):
        tree.move(alice, "/a", f"/{name}")


def test_history_and_passages_move_along(alice: User) -> None:
    revisions.save(alice, "/a/x", "Roses are red.", started_from=0)
    before = list(Chunk.objects.values_list("pk", flat=True))

    tree.move(alice, "/a", "/b")

    moved = Document.objects.get()
    assert (moved.path, moved.revisions.count()) == ("/b/x", 1)
    assert list(Chunk.objects.filter(document=moved).values_list("pk", flat=True)) == before != []


# Case, dots, blanks, emoji, right-to-left scripts, and characters that the encoding itself uses.
names = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="/\x00")
    | st.sampled_from("._- aA_20_éÉ🌹👩‍👩‍👧שלוםسلام"),
    min_size=1,
    max_size=12,
).filter(str.strip)


@given(st.lists(names, min_size=1, max_size=4), names, names)
@hypothesis_settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_name_comes_back_after_a_move(alice: User, parts: list[str], one: str, other: str) -> None:
    Document.objects.all().delete()
    below = "/".join(parts)
    make(alice, f"/{one}/{below}")

    tree.move(alice, f"/{one}", "/elsewhere")
    tree.move(alice, "/elsewhere", f"/{other}")

    assert paths_of(alice) == {unicodedata.normalize("NFC", f"/{other}/{below}")}
    assert [entry.name for entry in tree.list_folder(alice)] == [unicodedata.normalize("NFC", other)]


def test_names_that_look_alike_stand_side_by_side(alice: User) -> None:
    alike = ["/A b", "/a b", "/a-b", "/a_b", "/a.b", "/a_20_b", "/a  b", "/á b"]
    make(alice, *alike)

    for path in alike:
        tree.move(alice, path, f"{path}!")

    assert paths_of(alice) == {f"{path}!" for path in alike}


# Deleting --------------------------------------------------------------------------------------------------------


def test_a_branch_is_deleted_and_says_what_went(alice: User, bob: User) -> None:
    for path in GARDEN:
        revisions.save(alice, path, f"About {path}", started_from=0)
    make(bob, *GARDEN)

    gone = tree.delete(alice, "/projects/garden")

    assert gone == list(GARDEN[:3])
    assert paths_of(alice) == {"/projects/house"}
    assert Revision.objects.for_user(alice).count() == Chunk.objects.for_user(alice).count() == 1
    assert paths_of(bob) == set(GARDEN)


def test_a_document_is_deleted_without_what_lies_below(alice: User) -> None:
    make(alice, *GARDEN)

    assert tree.delete(alice, "/projects/garden", alone=True) == ["/projects/garden"]
    assert paths_of(alice) == set(GARDEN[1:])


def test_nothing_there_is_nothing_gone(alice: User) -> None:
    assert tree.delete(alice, "/nowhere") == []


# Names of files --------------------------------------------------------------------------------------------------

FILES = {
    "report.pdf": "report.pdf",
    "C:\\Users\\ana\\report.pdf": "report.pdf",
    "../../etc/passwd": "passwd",
    "a\x00b\n.txt": "ab.txt",
    "  ": "file",
    "..": "file",
    "": "file",
    "/": "file",
    "São João.md": "São João.md",
}


@pytest.mark.parametrize(("name", "fitting"), FILES.items())
def test_a_files_name_becomes_one_name_of_a_path(name: str, fitting: str) -> None:
    assert tree.fitting_name(name) == fitting


@given(st.text(max_size=400))
def test_any_files_name_fits(name: str) -> None:
    fitting = tree.fitting_name(name)

    assert "/" not in fitting
    assert decode(encode(f"/{fitting}")) == f"/{fitting}"


def test_a_long_name_keeps_its_ending() -> None:
    assert tree.fitting_name("🌹" * 300 + ".pdf").endswith("🌹.pdf")


# Tags ------------------------------------------------------------------------------------------------------------


def test_tags_are_kept_in_one_spelling(alice: User) -> None:
    make(alice, "/a")
    document = Document.objects.get()

    kept = tree.set_tags(document, ["#Garden", "garden ", "São  João", "", "#", "Zoo"])

    assert kept == ["garden", "são joão", "zoo"]
    document.refresh_from_db()
    assert document.tags == kept


@pytest.mark.parametrize("tags", [["x" * 61], [f"tag {number}" for number in range(21)]], ids=["long", "many"])
def test_too_many_or_too_long_tags_are_refused(alice: User, tags: list[str]) -> None:
    make(alice, "/a")

    with pytest.raises(ValidationError, match="at most"):
        tree.set_tags(Document.objects.get(), tags)


def test_documents_are_listed_by_tag(alice: User, bob: User) -> None:
    make(alice, "/a/x", "/a/y")
    make(bob, "/a/z")
    for path in ("/a/x", "/a/y"):
        tree.set_tags(Document.objects.get(path=path), ["garden", "roses"] if path == "/a/x" else ["garden"])
    tree.set_tags(Document.objects.get(path="/a/z"), ["garden"])

    assert tree.tags_of(alice) == [("garden", 2), ("roses", 1)]
