"""Moving by dragging: the tree comes back with a line that undoes it; without scripts the next page has it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils.html import escape

from accounts.models import User
from memory.documents.revisions import Origin, add
from memory.models import Document

type SignIn = Callable[[User], Client]

HTMX = {"HX-Request": "true"}


def write(user: User, *paths: str) -> None:
    for path in paths:
        add(user, path, "Words.", "user", Origin())


def paths_of(user: User) -> set[str]:
    return {document.path for document in Document.objects.for_user(user)}


def drag(client: Client, path: str, to: str, here: str = "", **fields: Any) -> Any:
    return client.post("/memory/move", {"path": path, "to": to, "here": here, **fields}, headers=HTMX)


def test_a_dragged_document_stands_in_its_new_folder_of_the_tree_that_comes_back(alice: User, sign_in: SignIn) -> None:
    write(alice, "/projects/plan", "/reference/soil")

    answer = drag(sign_in(alice), "/projects/plan", "/reference/plan").content.decode()

    assert paths_of(alice) == {"/reference/plan", "/reference/soil"}
    assert '<li data-path="/reference/plan">' in answer
    assert "Moved plan to /reference." in answer
    assert 'id="tree-told"' in answer
    assert "<html" not in answer


def test_the_line_beside_the_tree_undoes_it(alice: User, sign_in: SignIn) -> None:
    write(alice, "/projects/plan", "/projects/a/b")
    client = sign_in(alice)

    answer = drag(client, "/projects", "/old/projects").content.decode()

    assert "Moved projects with 2 documents to /old." in answer
    assert (
        '<input type="hidden" name="path" value="/old/projects"><input type="hidden" name="to" value="/projects">'
        in answer
    )
    drag(client, "/old/projects", "/projects")
    assert paths_of(alice) == {"/projects/plan", "/projects/a/b"}


@pytest.mark.parametrize(
    ("path", "to", "status", "sentence"),
    [
        ("/a/one", "/b/one", 409, "There is already a document at /b/one. Nothing was moved."),
        ("/a", "/a/one/a", 409, "/a can't be moved into itself."),
        ("/a/one", "", 422, "Enter a path"),
        ("/a/one", "/a/one", 200, "/a/one is already there."),
    ],
)
def test_what_cannot_be_moved_leaves_the_tree_as_it_is_and_says_why(
    alice: User, sign_in: SignIn, path: str, to: str, status: int, sentence: str
) -> None:
    write(alice, "/a/one", "/b/one")

    response = drag(sign_in(alice), path, to)

    assert response.status_code == status
    assert escape(sentence) in response.content.decode()
    assert 'data-path="/a/one"' in response.content.decode()
    assert "Undo" not in response.content.decode()
    assert paths_of(alice) == {"/a/one", "/b/one"}


@pytest.mark.parametrize(
    ("path", "to", "here", "led_to"),
    [
        ("/a/one", "/b/one", "/a/one", "/memory/documents/b/one"),
        ("/a", "/b/a", "/a/one", "/memory/documents/b/a/one"),
        ("/a", "/b/a", "/a", "/memory/documents/b/a"),
    ],
)
def test_who_drags_what_they_read_is_led_to_where_it_stands_now(
    alice: User, sign_in: SignIn, path: str, to: str, here: str, led_to: str
) -> None:
    write(alice, "/a/one", "/c")
    client = sign_in(alice)

    assert drag(client, path, to, here)["HX-Redirect"] == led_to
    page = client.get(led_to).content.decode()
    assert f"Moved here from {here}." in page
    assert f'name="to" value="{here}"' in page
    assert "Moved here from" not in client.get(led_to).content.decode(), "told once"


def test_a_name_that_only_begins_alike_is_another_place(alice: User, sign_in: SignIn) -> None:
    write(alice, "/a/one", "/ab")
    assert "HX-Redirect" not in drag(sign_in(alice), "/a", "/c/a", here="/ab")


def test_without_a_script_the_page_of_the_new_place_offers_to_undo_it(alice: User, sign_in: SignIn) -> None:
    write(alice, "/a/one", "/a/two")
    client = sign_in(alice)

    page = client.post("/memory/move", {"path": "/a", "to": "/b"}, follow=True).content.decode()

    assert "Moved here from /a." in page
    assert '<input type="hidden" name="path" value="/b"><input type="hidden" name="to" value="/a">' in page
    client.post("/memory/move", {"path": "/b", "to": "/a"})
    assert paths_of(alice) == {"/a/one", "/a/two"}


def test_nobody_moves_what_is_anothers(alice: User, bob: User, sign_in: SignIn) -> None:
    write(alice, "/a/one")
    assert drag(sign_in(bob), "/a/one", "/b/one").status_code == 404
    assert paths_of(alice) == {"/a/one"}


def test_a_hostile_name_stays_a_name(alice: User, sign_in: SignIn) -> None:
    write(alice, '/a/"><script>alert(1)')
    answer = drag(sign_in(alice), '/a/"><script>alert(1)', '/b/"><script>alert(1)').content.decode()
    assert "Moved" in answer
    assert "<script>" not in answer


def test_a_folder_shows_the_folders_in_it_with_their_sizes(
    alice: User, sign_in: SignIn, django_assert_max_num_queries: Any
) -> None:
    for n in range(30):
        Document.objects.create(user=alice, path=f"/a/b/{n}", title=f"{n}", text="Words.", tokens=100, tags=["seeds"])
    Document.objects.create(user=alice, path="/a/c", title="A title", text="Words.", tokens=50, tags=["seeds"])
    client = sign_in(alice)
    client.get("/memory/documents")

    with django_assert_max_num_queries(10):
        page = client.get("/memory/documents/a").content.decode()

    assert "31 documents in this folder and its subfolders" in page
    assert "30 documents</span>" in page
    assert 'href="/memory/documents?tag=seeds"' in page
    assert '<input id="new-path" name="path" value="/a/"' in page


def test_an_empty_tree_says_how_it_fills(alice: User, sign_in: SignIn) -> None:
    page = sign_in(alice).get("/memory/documents").content.decode()
    assert "drop files here" in page
    assert "What Recall learns appears in" in page


def test_every_page_with_the_tree_takes_files_that_are_dropped_on_it(alice: User, sign_in: SignIn) -> None:
    write(alice, "/a/one")
    client = sign_in(alice)
    for address in (
        "/memory/documents",
        "/memory/documents/a/one",
        "/memory/documents/a",
        "/memory/documents?tag=x",
    ):
        page = client.get(address).content.decode()
        assert "data-drop-form" in page
        assert 'data-largest="20000000"' in page, address
        assert page.count('id="uploads"') == 1, address
