"""The memory pages in a browser: a document is dragged into a folder and back, and a text is edited in place."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.people import PHONE_SIZE, Person, ask, last_answer
from tests.browser.test_memory import begin, unfold

pytestmark = pytest.mark.browser

DROP_A_FILE = """(folder) => {
  const files = new DataTransfer();
  files.items.add(new File(["Heavy clay."], "clay.md", { type: "text/markdown" }));
  for (const name of ["dragenter", "dragover", "drop"]) {
    folder.dispatchEvent(new DragEvent(name, { dataTransfer: files, bubbles: true, cancelable: true }));
  }
}"""


def folder(tree: Locator, path: str) -> Locator:
    """The name of a folder in the tree: where to drop."""
    return tree.locator(f'[data-path="{path}"] > details > summary')


def drag(tree: Locator, path: str, to: str) -> None:
    tree.locator(f'li[data-path="{path}"] > a').drag_to(folder(tree, to))


@pytest.mark.timeout(400)  # the application is started first
def test_a_document_is_dragged_into_a_folder_and_back_and_its_text_edited_in_place(
    newcomer: Callable[[str], Person],
) -> None:
    page = newcomer("Hana").sign_up()
    for path in ("/projects/plan", "/reference/soil"):
        begin(page, path, "A bed of **larch**.\n\nOn the south side.")
    page.goto("/memory/documents")
    drag_and_undo(page)
    drop_a_file(page)
    edit_where_it_stands(page)


def drag_and_undo(page: Page) -> None:
    tree = page.get_by_role("navigation", name="Documents")
    unfold(tree, "projects")
    drag(tree, "/projects/plan", "/reference")
    expect(tree.get_by_text("Moved plan to /reference.")).to_be_visible()
    unfold(tree, "reference")
    expect(tree.locator('li[data-path="/reference/plan"]')).to_be_visible()

    tree.get_by_role("button", name="Undo").click()
    expect(tree.get_by_text("Moved plan to /projects.")).to_be_visible()
    expect(tree.locator('li[data-path="/reference/soil"]')).to_be_visible()  # what was open stays open


def drop_a_file(page: Page) -> None:
    tree = page.get_by_role("navigation", name="Documents")
    folder(tree, "/reference").evaluate(DROP_A_FILE)
    expect(page.get_by_text("Done: 1 searchable excerpt.")).to_be_visible()
    expect(tree.locator('li[data-path="/reference/clay.md"]')).to_be_visible()


def edit_where_it_stands(page: Page) -> None:
    page.goto("/memory/documents/projects/plan")
    box = page.get_by_label("Text (Markdown)")
    expect(box).to_be_hidden()
    page.get_by_text("On the south side.").first.click()
    expect(box).to_be_focused()
    expect(page.locator(".prose")).to_be_hidden()

    page.keyboard.press("Escape")
    expect(box).to_be_hidden()
    expect(page.locator("summary", has_text="Edit")).to_be_focused()
    page.keyboard.press("Enter")
    expect(box).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("A bed of **oak**.")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".prose strong")).to_have_text("oak")
    expect(page.get_by_text("Saved: plan")).to_be_focused()


@pytest.mark.timeout(400)
def test_what_is_still_to_be_read_is_read_on_demand_and_appears_to_be_edited(newcomer: Callable[[str], Person]) -> None:
    page = newcomer("Iris").sign_up()
    ask(page, "I live in Lyon.")
    expect(last_answer(page)).to_contain_text("Lyon")
    page.goto("/memory/about")
    facts = page.locator("#facts")
    expect(facts.get_by_role("status")).to_contain_text("Recall hasn't read your latest messages")
    facts.get_by_role("button", name="Save memories now").click()
    expect(facts.get_by_role("link", name="You live in Lyon.", exact=True)).to_be_visible()
    expect(facts.get_by_role("status")).to_have_count(0)

    page.set_viewport_size(PHONE_SIZE)
    facts.get_by_role("link", name="Edit : You live in Lyon.").click()
    expect(page.get_by_label("In your own words")).to_be_focused()
    expect(page.get_by_label("In your own words")).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("heading", level=1), "the form's title isn't scrolled away").to_be_in_viewport(ratio=1)


@pytest.mark.timeout(400)
def test_tidying_up_is_asked_for_by_a_button_and_its_report_comes_by_itself(
    newcomer: Callable[[str], Person],
) -> None:
    page = newcomer("Ines").sign_up()
    page.goto("/memory/rules")
    tidying = page.get_by_role("region", name="Clean-up")
    expect(tidying.get_by_text("No clean-up yet.")).to_be_visible()
    tidying.get_by_role("button", name="Clean up now").click()
    expect(tidying.get_by_text("Nothing to clean up.")).to_be_visible(timeout=15_000)
    expect(tidying.get_by_role("button", name="Clean up now")).to_be_visible()
