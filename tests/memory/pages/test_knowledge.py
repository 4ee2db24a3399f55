"""The knowledge base on the page: the tree, a document with all one may do to it, folders, tags, files on their way."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils.html import escape
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import User
from memory.documents import revisions, tree, uploads
from memory.documents.revisions import Origin
from memory.documents.tree import Node
from memory.forms import PathField
from memory.index.indexer import embed_pending, index_document
from memory.models import Document, Fact, Revision, Upload
from memory.pages import knowledge
from memory.pages.knowledge import MAX_IN_FOLDER, MAX_IN_TREE, build_crumbs, build_folder, document_url

type SignIn = Callable[[User], Client]

HTMX = {"HX-Request": "true"}
ATTACK = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'


def add(user: User, path: str, text: str = "Some words.", **origin: Any) -> Document:
    return revisions.add(user, path, text, Revision.Author.USER, Origin(**origin))


def page_of(client: Client, address: str, status: int = 200) -> str:
    response = client.get(address)
    assert response.status_code == status, address
    return response.content.decode()


# The tree --------------------------------------------------------------------------------------------------------


def test_an_empty_knowledge_base_says_what_to_do(alice: User, sign_in: SignIn) -> None:
    page = page_of(sign_in(alice), "/memory/documents")

    assert "No documents yet." in page
    assert "Notes and files" in page
    assert "Recall reads text, Markdown, PDF" in page
    assert "Up to 20&nbsp;MB each" in page


def test_folders_fold_and_count_what_is_in_them(alice: User, sign_in: SignIn) -> None:
    add(alice, "/projects/garden/plan")
    add(alice, "/projects/garden")
    add(alice, "/stories/Zoë's summer")

    page = page_of(sign_in(alice), "/memory/documents")

    assert '<summary>projects <span class="badge" aria-label="2 documents">2</span></summary>' in page
    assert '<summary>garden <span class="badge" aria-label="1 document">1</span></summary>' in page
    assert 'href="/memory/documents/projects/garden">Open garden</a>' in page
    assert 'href="/memory/documents/stories/Zo%C3%AB\'s%20summer"' in unescaped(page)
    assert "<details open>" not in page


def unescaped(page: str) -> str:
    return page.replace("&#x27;", "'")


def test_the_folders_around_the_document_one_reads_are_open(alice: User) -> None:
    for path in ("/projects/garden/plan", "/projects/triathlon/week", "/stories/summer"):
        add(alice, path)

    projects, stories = knowledge.build_tree(alice, "/projects/garden/plan").folders

    assert projects.is_open
    assert [below.is_open for below in projects.folders] == [True, False]
    assert not stories.is_open
    assert projects.folders[0].documents[0].is_current


def test_names_stand_in_order_without_regard_to_case(alice: User) -> None:
    for name in ("b", "A", "a", "C"):
        add(alice, f"/x/{name}")

    assert [leaf.name for leaf in knowledge.build_tree(alice).folders[0].documents] == ["A", "a", "b", "C"]


def node(count: int, folder: str) -> Node:
    made = Node(folder, f"/{folder}", documents=count)
    made.below = [Node(f"{n}", f"/{folder}/{n}", Document(path=f"/{folder}/{n}"), documents=1) for n in range(count)]
    return made


def test_what_is_too_much_for_the_tree_is_left_to_the_folders_own_page() -> None:
    shown = build_folder(node(MAX_IN_FOLDER + 3, "big"), "", iter(range(MAX_IN_TREE)))
    assert (len(shown.documents), shown.unlisted, shown.count) == (MAX_IN_FOLDER, 3, MAX_IN_FOLDER + 3)

    root = Node("", "/", below=[node(3, "a"), node(3, "b")], documents=6)
    a, b = build_folder(root, "", iter(range(4))).folders
    assert (len(a.documents), a.unlisted, len(b.documents), b.unlisted) == (3, 0, 1, 2)


def test_five_hundred_documents_take_as_many_queries_as_one(
    alice: User, sign_in: SignIn, django_assert_max_num_queries: Any
) -> None:
    Document.objects.bulk_create(
        Document(user=alice, path=f"/reference/{n % 20}/{n}", title=f"{n}", text="Words.") for n in range(500)
    )
    client = sign_in(alice)
    client.get("/memory/documents")

    with django_assert_max_num_queries(13):
        page = client.get("/memory/documents").content.decode()

    assert page.split("</nav>")[2].count('"><a href="/memory/documents/reference/') == 500


@given(st.text(min_size=1, max_size=12))
def test_every_path_has_an_address_that_leads_back_to_it(name: str) -> None:
    path = f"/x/{name}"
    shown = document_url(path)

    assert "\n" not in shown
    assert not {".", ".."} & set(shown.split("?")[0].split("/"))
    prefix = "/memory/documents?path=" if "?path=" in shown else "/memory/documents"
    assert unquote(shown.removeprefix(prefix), errors="surrogatepass") == path


@pytest.mark.parametrize("name", ["..", ".", "a/b", "50% off?", "#1", "a b", "ß", "名前", "x\ty", "..a", "end "])
def test_a_document_of_any_name_is_shown_at_its_address(alice: User, sign_in: SignIn, name: str) -> None:
    path = f"/x/{name}"
    add(alice, path, "Its words.")

    assert "Its words." in page_of(sign_in(alice), document_url(path))


def test_the_folders_above_lead_up() -> None:
    assert [(crumb.name, crumb.address) for crumb in build_crumbs("/a/b/c")] == [
        ("a", "/memory/documents/a"),
        ("b", "/memory/documents/a/b"),
    ]


# One document ----------------------------------------------------------------------------------------------------


def test_a_document_is_shown_as_markdown_with_what_is_known_of_it(alice: User, sign_in: SignIn) -> None:
    document = add(alice, "/projects/garden/plan", "# The bed\n\nOf **larch**.\n\n" + ATTACK)
    tree.set_tags(document, ["Garden"])

    page = page_of(sign_in(alice), "/memory/documents/projects/garden/plan")

    assert "<strong>larch</strong>" in page
    assert "The bed</h3>" in page
    assert "Written by you" in page
    assert 'href="/memory/documents?tag=garden">garden</a>' in page
    assert "Searchable excerpts: 1" in page
    assert 'id="passage-0"' in page
    assert "<script>alert" not in page
    assert "<img src=x" not in page


def test_a_profile_of_facts_does_not_wait_for_an_index_that_has_none_of_it(alice: User, sign_in: SignIn) -> None:
    fact = Fact.objects.create(user=alice, statement="The user keeps bees.", status="active")
    document = add(alice, "/profile/identity")
    document.text = f"- Keeps bees. ^fact-{fact.pk}"
    document.save()
    index_document(document)

    page = page_of(sign_in(alice), "/memory/documents/profile/identity")

    assert "Each line is a fact, and searches find it as one" in page
    assert "Every answer gets your profile anyway." in page
    assert "Indexing. It will be searchable" not in page


def test_a_document_is_edited_where_it_is_read(alice: User, sign_in: SignIn) -> None:
    document = add(alice, "/notes/one", "Old.")
    client = sign_in(alice)
    fields = {"page": "document", "text": "New.", "started_from": 1}

    response = client.post(f"/memory/save/{document.pk}", fields)

    assert response["Location"] == "/memory/documents/notes/one"
    assert "<p>New.</p>" in page_of(client, "/memory/documents/notes/one")
    assert 'name="started_from" value="2"' in page_of(client, "/memory/documents/notes/one")


def test_with_htmx_the_text_alone_comes_back(alice: User, sign_in: SignIn) -> None:
    document = add(alice, "/notes/one", "Old.")
    fields = {"page": "document", "text": "New.", "started_from": 1}

    response = sign_in(alice).post(f"/memory/save/{document.pk}", fields, headers=HTMX)

    page = response.content.decode()
    assert "<html" not in page
    assert "<p>New.</p>" in page
    assert "Saved: one" in page


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
def test_who_meets_a_newer_version_keeps_the_own_text_here_too(
    alice: User, sign_in: SignIn, headers: dict[str, str]
) -> None:
    document = add(alice, "/notes/one", "I live in Porto.")
    fields = {"page": "document", "text": "I live in Faro.", "started_from": 0}

    response = sign_in(alice).post(f"/memory/save/{document.pk}", fields, headers=headers)

    page = response.content.decode()
    assert response.status_code == 409
    assert "I live in Faro.</textarea>" in page
    assert '<del class="diff-del">Porto.</del><ins class="diff-ins">Faro.</ins>' in page


def test_a_long_text_is_read_in_parts_and_not_edited_on_a_page(alice: User, sign_in: SignIn) -> None:
    add(alice, "/reference/book", "\n\n".join(f"Paragraph {n}. {'word ' * 150}" for n in range(150)))
    client = sign_in(alice)

    first, second = (page_of(client, f"/memory/documents/reference/book{query}") for query in ("", "?part=2"))

    assert "Paragraph 0." in first.split('id="place"')[0]
    assert "Paragraph 0." not in second.split('id="place"')[0]
    assert "Part 2 of" in second
    assert "too long to edit here" in first
    assert "<textarea" not in first


def test_the_history_of_a_document_leads_back_to_it(alice: User, sign_in: SignIn) -> None:
    document = add(alice, "/notes/one")

    page = page_of(sign_in(alice), f"/memory/versions/{document.pk}")

    way_back = page.partition('<p class="way-back">')[2].partition("</p>")[0]
    assert '<a href="/memory/documents/notes/one">' in way_back
    assert way_back.endswith(f"{document.title}</a>")


def test_a_version_without_changes_is_shown_as_markdown(alice: User, sign_in: SignIn) -> None:
    document = add(alice, "/notes/one", "# Soil\n\nClay.")
    revisions.write(document, "# Soil\n\nLoam.", Revision.Author.USER)
    client = sign_in(alice)

    first = page_of(client, f"/memory/versions/{document.pk}/1")

    assert "Soil</h3>" in first
    assert "# Soil" not in first
    assert "# Soil" in page_of(client, f"/memory/versions/{document.pk}/2"), "changes are compared as they were typed"


@pytest.mark.parametrize("path", ["nowhere", "notes", "../notes/one"])
def test_what_is_not_there_is_not_found(alice: User, bob: User, sign_in: SignIn, path: str) -> None:
    add(bob, "/notes/one")

    page_of(sign_in(alice), f"/memory/documents/{path}", status=404)


def test_an_address_without_a_path_is_not_found(alice: User, sign_in: SignIn) -> None:
    for query in ("?path=", "?path=//", "?path=/a//b"):
        page_of(sign_in(alice), f"/memory/documents{query}", status=404)


# A new one, another place, tags ----------------------------------------------------------------------------------


@pytest.mark.parametrize("typed", ["/projects/garden", "projects/garden", " /projects/garden/ "])
def test_a_document_is_begun(alice: User, sign_in: SignIn, typed: str) -> None:
    response = sign_in(alice).post("/memory/new", {"path": typed, "text": "Words.\r\nMore."})

    assert response["Location"] == "/memory/documents/projects/garden"
    assert Document.objects.get(user=alice).text == "Words.\nMore."


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/notes/one", 409, "There is already a document at /notes/one."),
        ("", 422, "Enter a path"),
        ("/", 422, "Enter a path"),
        ("/a//b", 422, "Each part of a path needs a name."),
        ("/" + "a/" * 40, 422, "This path is too long."),
    ],
)
def test_a_document_that_cannot_be_begun_keeps_what_was_typed(
    alice: User, sign_in: SignIn, path: str, status: int, sentence: str
) -> None:
    add(alice, "/notes/one", "Old.")

    response = sign_in(alice).post("/memory/new", {"path": path, "text": "Typed at length."})

    assert response.status_code == status
    assert sentence in response.content.decode()
    assert "Typed at length.</textarea>" in response.content.decode()
    assert Document.objects.get(user=alice).text == "Old."


def test_a_folder_is_moved_with_all_in_it(alice: User, sign_in: SignIn) -> None:
    add(alice, "/a/one")
    add(alice, "/a/b/two")

    response = sign_in(alice).post("/memory/move", {"path": "/a", "to": "c/d"})

    assert response["Location"] == "/memory/documents/c/d"
    assert {document.path for document in Document.objects.for_user(alice)} == {"/c/d/one", "/c/d/b/two"}


@pytest.mark.parametrize(
    ("path", "to", "status", "sentence"),
    [
        ("/a/one", "/a/two", 409, "There is already a document at /a/two. Nothing was moved."),
        ("/a", "/a/b", 409, "/a can't be moved into itself."),
        ("/a/one", "", 422, "Enter a path"),
        ("/a", "/a//", 302, ""),
    ],
)
def test_a_move_that_cannot_be_is_one_clear_sentence(
    alice: User, sign_in: SignIn, path: str, to: str, status: int, sentence: str
) -> None:
    add(alice, "/a/one")
    add(alice, "/a/two")

    response = sign_in(alice).post("/memory/move", {"path": path, "to": to})

    assert response.status_code == status
    assert escape(sentence) in response.content.decode()
    assert {document.path for document in Document.objects.for_user(alice)} == {"/a/one", "/a/two"}


def test_tags_are_given_and_lead_to_their_documents(alice: User, sign_in: SignIn) -> None:
    add(alice, "/a/one")
    add(alice, "/a/two")
    client = sign_in(alice)

    client.post("/memory/tags", {"path": "/a/one", "tags": "#Garden,  soil and  water, garden"})

    assert Document.objects.get(path="/a/one").tags == ["garden", "soil and water"]
    listing = page_of(client, "/memory/documents?tag=Garden").split("page-header")[1]
    assert "/a/one" in listing
    assert "/a/two" not in listing


def test_too_many_tags_are_refused_in_one_sentence(alice: User, sign_in: SignIn) -> None:
    add(alice, "/a/one")

    response = sign_in(alice).post("/memory/tags", {"path": "/a/one", "tags": ",".join(map(str, range(21)))})

    assert response.status_code == 422
    assert "at most 20 tags" in response.content.decode()


@pytest.mark.parametrize("path", ["/a", "a/", " /a "])
def test_a_path_may_be_typed_with_or_without_its_slash(path: str) -> None:
    assert PathField().clean(path) == "/a"


# Folders, and what goes ------------------------------------------------------------------------------------------


def test_a_folder_lists_what_is_directly_in_it_page_by_page(alice: User, sign_in: SignIn) -> None:
    add(alice, "/a/below/deep")
    for number in range(101):
        Document.objects.create(user=alice, path=f"/a/{number:03}", title=f"{number:03}", text="Words.")

    first, second = (
        page_of(sign_in(alice), f"/memory/documents/a{query}").split("page-header")[1] for query in ("", "?page=2")
    )

    assert "102 documents in this folder and its subfolders" in first
    assert ">099</a>" in first
    assert ">100</a>" not in first
    assert ">100</a>" in second
    assert "deep" not in first + second, "its own folder lists it"


def test_a_listed_document_has_its_title_then_its_folder(alice: User, sign_in: SignIn) -> None:
    add(alice, "/projects/seagrass/outline")

    page = page_of(sign_in(alice), "/memory/documents").split("page-header")[1]

    assert re.search(r'>outline</a></p><p class="muted">seagrass · \d', page)


def test_deleting_is_plain_and_forgetting_red_on_both_pages(alice: User, sign_in: SignIn) -> None:
    add(alice, "/a/one")

    for address in ("/memory/documents/a", "/memory/documents/a/one"):
        last = page_of(sign_in(alice), address).rpartition("<section")[2]
        assert re.search(r'class="button"><svg[^>]*><use href="[^"]*#trash-2">', last), address
        assert "Undo for 30 minutes." in last
        assert re.search(r'class="button button-danger"[^>]*><svg[^>]*><use href="[^"]*#eraser">', last), address
        assert "Can't be undone." in last


def test_a_document_that_is_a_folder_too_shows_either(alice: User, sign_in: SignIn) -> None:
    add(alice, "/a", "The folder's own words.")
    add(alice, "/a/b")

    assert "1 document inside" in page_of(sign_in(alice), "/memory/documents/a")
    assert "2 documents in this folder" in page_of(sign_in(alice), "/memory/documents?path=/a&below")


@pytest.mark.parametrize(("path", "left_at"), [("/a/one", "/memory/documents/a"), ("/a", "/memory/documents")])
def test_what_is_deleted_is_counted_and_can_be_brought_back(
    alice: User, sign_in: SignIn, path: str, left_at: str
) -> None:
    add(alice, "/a/one")
    add(alice, "/a/two")
    client = sign_in(alice)

    response = client.post("/memory/remove", {"path": path}, follow=True)

    page = response.content.decode()
    count = 1 if path == "/a/one" else 2
    assert response.redirect_chain == [(left_at, 302)]
    assert f"Deleted: {count} document{'s' if count > 1 else ''}." in page
    [moment] = re.findall(r'action="/memory/restore".*?name="deleted" value="([^"]+)"', page)
    back = client.post("/memory/restore", {"deleted": moment}, follow=True).content.decode()
    assert f"Restored: {count} document" in back
    assert Document.objects.for_user(alice).count() == 2
    assert "Nothing to restore" in client.post("/memory/restore", {"deleted": moment}, follow=True).content.decode()


@pytest.mark.parametrize("moment", ["", "yesterday", "2026-11-22T10:00:00Z"])
def test_there_is_nothing_to_bring_back_from_any_other_moment(alice: User, sign_in: SignIn, moment: str) -> None:
    page = sign_in(alice).post("/memory/restore", {"deleted": moment}, follow=True).content.decode()
    assert "Nothing to restore" in page


# Files -----------------------------------------------------------------------------------------------------------


def text_file(name: str = "notes.md", content: bytes = b"# Soil\n\nClay, with slugs in spring.") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def test_files_wait_read_and_stand_in_the_tree(alice: User, sign_in: SignIn) -> None:
    client = sign_in(alice)

    page = client.post(
        "/memory/uploads", {"files": [text_file(), text_file("b.txt")], "folder": "/garden"}, headers=HTMX
    ).content.decode()
    assert page.count("Waiting") == 2
    assert 'hx-trigger="every 2s"' in page
    assert "tree-of-documents" not in page

    for upload in Upload.objects.for_user(alice):
        uploads.process_upload(upload.pk)
    embed_pending()
    page = client.get("/memory/uploads", headers=HTMX).content.decode()
    assert "Done: 1 searchable excerpt." in page
    assert "every 2s" not in page
    assert 'id="tree-of-documents" hx-swap-oob="true"' in page
    assert 'href="/memory/documents/garden/notes.md"' in page


def test_without_htmx_the_page_itself_says_how_far_they_are(alice: User, sign_in: SignIn) -> None:
    client = sign_in(alice)

    response = client.post("/memory/uploads", {"files": [text_file()]})

    assert response["Location"] == "/memory/documents#uploads"
    assert "Waiting" in page_of(client, "/memory/documents")
    assert Upload.objects.get().folder == uploads.FOLDER
    assert client.get("/memory/uploads")["Location"] == "/memory/documents#uploads"


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "No file: Choose a file first."),
        ({"files": text_file("empty.txt", b" ")}, "empty.txt: This file is empty."),
        ({"files": text_file("cat.png", b"\x89PNG\r\n")}, "cat.png: "),
        ({"files": text_file(), "folder": "/a//b"}, "Folder: Each part of a path needs a name."),
    ],
    ids=["nothing", "empty", "a picture", "no folder"],
)
@pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
def test_a_file_that_is_not_taken_is_one_sentence(
    alice: User, sign_in: SignIn, fields: dict[str, Any], sentence: str, headers: dict[str, str]
) -> None:
    for file in fields.values():
        getattr(file, "seek", id)(0)

    response = sign_in(alice).post("/memory/uploads", fields, headers=headers, follow=True)

    assert sentence in response.content.decode()
    assert not Upload.objects.exists()


def test_a_file_that_could_not_be_read_says_why(alice: User, sign_in: SignIn) -> None:
    Upload.objects.create(user=alice, name="x.pdf", size=9, folder="/a", state="failed", error="It has a password.")
    lost = Upload.objects.create(
        user=alice, name="y.pdf", size=9, folder="/a", state="failed", error=uploads.UPLOADS.give_up_error, content=b"x"
    )
    client = sign_in(alice)

    page = page_of(client, "/memory/documents")
    assert "It has a password." in page
    assert page.count("Try again</button>") == 1

    client.post(f"/memory/uploads/{lost.pk}/again")
    lost.refresh_from_db()
    assert lost.state == Upload.State.WAITING


# Whose it is -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "where", "fields"),
    [
        ("get", "/memory/documents/a/one", {}),
        ("get", "/memory/documents/a", {}),
        ("get", "/memory/documents", {"path": "/a/one"}),
        ("post", "/memory/remove", {"path": "/a/one"}),
        ("post", "/memory/move", {"path": "/a/one", "to": "/b"}),
        ("post", "/memory/move", {"path": "/a", "to": "/b"}),
        ("post", "/memory/tags", {"path": "/a/one", "tags": "mine"}),
    ],
)
def test_what_is_alices_is_not_found_by_bob(
    alice: User, bob: User, sign_in: SignIn, method: str, where: str, fields: dict[str, Any]
) -> None:
    add(alice, "/a/one")

    assert getattr(sign_in(bob), method)(where, fields).status_code == 404
    assert [(document.path, document.tags) for document in Document.objects.all()] == [("/a/one", [])]


def test_bobs_pages_show_nothing_of_alices_documents(alice: User, bob: User, sign_in: SignIn) -> None:
    tree.set_tags(add(alice, "/a/secret"), ["secret"])
    Upload.objects.create(user=alice, name="secret.pdf", size=9, folder="/a")

    for where in ("/memory/documents", "/memory/documents?tag=secr", "/memory/timeline"):
        assert "secret" not in page_of(sign_in(bob), where)
    assert "secret.pdf" not in sign_in(bob).get("/memory/uploads", headers=HTMX).content.decode()
