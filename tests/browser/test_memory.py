"""The memory page in a browser: documents, search, files, on a desktop and a phone, and by keyboard alone."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, FilePayload, Locator, Page, expect

from tests.browser.people import PHONE, Person, Watch, new_name
from tests.running import App

pytestmark = pytest.mark.browser

GARDEN = "# The bed\n\nA raised bed of **larch**, on the south side."


@pytest.fixture(scope="module")
def signed_up_gardener(browser: Browser, app: App) -> Person:
    """A user with two documents, one of them in a nested folder."""
    person = Person(browser, app, Watch(), new_name("Gerda"))
    page = person.sign_up()
    for path, text in (("/projects/garden/plan", GARDEN), ("/stories/Porto", "We drove to Porto in an old van.")):
        begin(page, path, text)
    person.leave()
    return person


@pytest.fixture
def gardener(signed_up_gardener: Person, watch: Watch) -> Iterator[Person]:
    """That user with a fresh browser; what earlier tests wrote is still there."""
    person = replace(signed_up_gardener, watch=watch, contexts=[])
    yield person
    person.leave()


def begin(page: Page, path: str, text: str) -> None:
    """Write a new document."""
    page.goto("/memory/documents#new")
    page.get_by_label("Path").fill(path)
    page.get_by_label("Text (Markdown)").fill(text)
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_text(f"Document created at {path}.")).to_be_visible()


def search(page: Page, words: str) -> None:
    """Search, and wait for the results."""
    page.get_by_role("searchbox").fill(words)
    page.get_by_role("searchbox").press("Enter")
    expect(page.locator(".result").first).to_be_visible()


def unfold(tree: Locator, folder: str) -> None:
    """Open a visible folder."""
    tree.locator("summary", has_text=folder).locator("visible=true").first.click()


def test_folders_unfold_to_a_document_that_is_edited_in_place(gardener: Person) -> None:
    page = gardener.tab("/memory/documents")
    tree = page.get_by_role("navigation", name="Documents")
    expect(tree.get_by_role("link", name="plan")).to_be_hidden()
    unfold(tree, "projects")
    unfold(tree, "garden")
    tree.get_by_role("link", name="plan").click()

    expect(page.locator(".prose strong")).to_have_text("larch")
    expect(tree.get_by_role("link", name="plan")).to_have_attribute("aria-current", "page")
    page.locator("summary", has_text="Edit").click()
    page.get_by_label("Text (Markdown)").fill(f"{GARDEN}\n\nWith **oak** at the corners.")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".prose strong").last).to_have_text("oak")
    expect(page.get_by_text("Saved: plan")).to_be_focused()


def test_a_search_finds_explains_and_has_an_address(gardener: Person) -> None:
    page = gardener.tab("/search?in=documents")
    search(page, "Where does the larch bed stand?")

    result = page.locator(".result").first
    expect(result.locator("mark", has_text="larch")).to_be_visible()
    result.get_by_text("Why this?").click()
    expect(result.get_by_text("Words shared with the question")).to_be_visible()
    expect(page).to_have_url(f"{gardener.app.url}/search?in=documents&q=Where%20does%20the%20larch%20bed%20stand%3F")
    page.reload()
    expect(page.locator(".result mark", has_text="larch").first).to_be_visible()

    page.locator(".result h3 a").first.click()
    expect(page.locator("#passage-0")).to_be_visible()


def test_a_file_is_read_while_one_watches(gardener: Person) -> None:
    page = gardener.tab("/memory/documents")
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_text("Choose a file first.")).to_be_visible()
    soil = FilePayload(name="soil.md", mimeType="text/markdown", buffer=b"# Soil\n\nHeavy clay with slugs in spring.")
    page.get_by_label("Files, or drop them here").set_input_files(soil)
    page.get_by_label("Upload to").fill("/garden")
    page.get_by_role("button", name="Upload").click()

    expect(page.get_by_text("Done: 1 searchable excerpt.")).to_be_visible()
    tree = page.get_by_role("navigation", name="Documents")
    unfold(tree, "garden")
    tree.get_by_role("link", name="soil.md").click()
    expect(page.get_by_text("Heavy clay with slugs in spring.").first).to_be_visible()


def test_a_file_that_is_too_large_is_told_before_it_is_sent(gardener: Person) -> None:
    page = gardener.tab("/memory/documents")
    page.locator("[data-upload]").evaluate("form => { form.dataset.largest = '1000000'; }")
    big = FilePayload(name="big.txt", mimeType="text/plain", buffer=b"x" * 1_500_000)
    page.get_by_label("Files, or drop them here").set_input_files(big)
    expect(page.get_by_text("big.txt is 1.5 MB. The limit is 1 MB.")).to_be_visible()

    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.method))
    page.get_by_role("button", name="Upload").click()
    page.wait_for_timeout(200)
    assert "POST" not in asked


def test_a_file_is_dropped_on_the_page(gardener: Person) -> None:
    page = gardener.tab("/memory/documents")
    page.wait_for_load_state()
    dropped = page.evaluate_handle(
        "() => { const data = new DataTransfer();"
        " data.items.add(new File(['Beans along the fence.'], 'beans.txt', { type: 'text/plain' })); return data; }"
    )
    page.dispatch_event("[data-drop]", "dragover", {"dataTransfer": dropped})
    expect(page.locator("[data-drop].is-over")).to_be_visible()
    page.dispatch_event("[data-drop]", "drop", {"dataTransfer": dropped})

    expect(page.locator("#uploads").get_by_text("beans.txt")).to_be_visible()
    expect(page.get_by_text("Done: 1 searchable excerpt.")).to_be_visible()


def test_on_a_phone_the_tree_is_a_sheet(gardener: Person) -> None:
    page = gardener.open_browser(**PHONE).new_page()
    page.goto("/memory/documents/projects/garden/plan")
    tree = page.get_by_role("navigation", name="Documents")
    expect(tree).to_be_hidden()
    page.get_by_role("button", name="Folders", exact=True).click()
    expect(tree.get_by_role("link", name="plan")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    tree.get_by_role("button", name="Close documents").click()
    expect(tree).to_be_hidden()


def test_search_and_reasons_by_keyboard_alone(gardener: Person) -> None:
    page = gardener.tab("/search?in=documents")
    page.get_by_role("searchbox").focus()
    page.keyboard.type("larch bed")
    page.keyboard.press("Enter")
    result = page.locator(".result").first
    expect(result).to_be_visible()
    expect(page.get_by_role("searchbox")).to_be_focused()

    summary = result.locator("summary")
    for _ in range(12):
        page.keyboard.press("Tab")
        if summary.evaluate("node => node === document.activeElement"):
            break
    expect(summary).to_be_focused()
    page.keyboard.press("Enter")
    expect(result.get_by_text("Similar meaning")).to_be_visible()


def test_without_script_everything_can_be_read_and_searched(gardener: Person) -> None:
    page = gardener.open_browser(java_script_enabled=False).new_page()
    page.goto("/memory/documents")
    unfold(page.get_by_role("navigation", name="Documents"), "stories")
    page.get_by_role("link", name="Porto", exact=True).first.click()
    expect(page.locator(".prose")).to_contain_text("We drove to Porto")

    page.goto("/memory/documents")
    page.get_by_role("link", name="Search documents").click()
    page.get_by_role("searchbox").fill("Who drove an old van?")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.locator(".result").first).to_contain_text("old van")


def test_a_collision_is_one_sentence_and_a_deletion_is_undone(gardener: Person) -> None:
    gardener.watch.forgive("409")
    page = gardener.tab()
    begin(page, "/drafts/letter", "Dear Mary,")
    page.get_by_label("Path").fill("/stories/Porto")
    page.get_by_role("button", name="Move").click()
    expect(page.get_by_text("There is already a document at /stories/Porto. Nothing was moved.")).to_be_visible()

    page.get_by_label("Path").fill("/letters/to Mary")
    page.get_by_role("button", name="Move").click()
    expect(page.get_by_text("Moved here from /drafts/letter.")).to_be_visible()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("Deleted: 1 document.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Restored: 1 document.")).to_be_visible()
    expect(page.locator(".prose")).to_contain_text("Dear Mary,")
