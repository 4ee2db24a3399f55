"""A user drops files on the chat, or chooses them on a phone, pastes a text, sends everything, and finds it again."""

import base64
from typing import Any

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.browser.people import ON_BOTH, Person, is_phone, send, tap
from tests.browser.test_look import fits_the_screen
from tests.chat.attachments.samples import CONTRACT, picture

pytestmark = pytest.mark.browser

DROP = """
(files) => {
  const data = new DataTransfer();
  for (const {name, type, content} of files) {
    const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
    data.items.add(new File([bytes], name, {type}));
  }
  const talk = document.querySelector(".talk");
  talk.dispatchEvent(new DragEvent("dragenter", {dataTransfer: data, bubbles: true, cancelable: true}));
  window.wasVeiled = !document.querySelector(".drop-veil").hidden;
  talk.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
}
"""
PASTE = """
(words) => {
  const data = new DataTransfer();
  data.setData("text/plain", words);
  const paste = new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true});
  document.getElementById("text").dispatchEvent(paste);
}
"""
LETTER = "Dear Sir or Madam, the rent is due. " * 150


def drop(page: Page, **files: bytes) -> None:
    """Drop files by name, with an underscore for the period."""
    given = [
        {"name": name.replace("_", "."), "type": "", "content": base64.b64encode(content).decode()}
        for name, content in files.items()
    ]
    page.evaluate(DROP, given)


def choose(page: Page, **files: bytes) -> None:
    """Choose files by name from where a phone keeps them."""
    with page.expect_file_chooser() as asked:
        page.locator("#attach").tap()
    given = [FilePayload(name=name.replace("_", "."), mimeType="", buffer=files[name]) for name in files]
    asked.value.set_files(given)


@ON_BOTH
def test_what_is_given_and_pasted_goes_with_the_message(somebody: Person, screen: dict[str, Any]) -> None:
    somebody.screen = screen
    somebody.watch.forgive("422")  # a file that only claims to be an image
    page = somebody.tab()
    chips = page.get_by_role("list", name="Attachments of this message").get_by_role("listitem")

    if is_phone(page):
        choose(page, lease_md=CONTRACT.encode(), plan_png=picture(640, 480))
    else:
        drop(page, lease_md=CONTRACT.encode(), plan_png=picture(640, 480))
        assert page.evaluate("window.wasVeiled")
    expect(chips).to_have_count(2)
    expect(chips.filter(has_text="lease.md")).to_contain_text("tokens")
    expect(chips.filter(has_text="plan.png").locator("img")).to_be_visible()

    page.evaluate(PASTE, LETTER)
    expect(chips.filter(has_text="Pasted: Dear Sir or Madam")).to_contain_text("tokens")
    drop(page, broken_png=b"\x89PNG\r\n\x1a\nnothing")
    expect(chips.filter(has_text="broken.png")).to_contain_text("This file is damaged or not an image")
    fits_the_screen(page)
    tap(page.get_by_role("button", name="Remove broken.png"))

    page.reload()
    expect(chips).to_have_count(3)
    tap(chips.filter(has_text="Pasted").get_by_role("button", name="Insert as text"))
    expect(page.get_by_label("Your message")).to_have_value(LETTER.strip())
    expect(chips).to_have_count(2)

    drop(page, broken_png=b"\x89PNG\r\n\x1a\nnothing")
    expect(chips.filter(has_text="broken.png")).to_contain_text("This file is damaged or not an image")
    page.get_by_label("Your message").fill("What is all this?")
    send(page)  # a failed upload blocks nothing
    asked = page.locator(".message-user").last
    expect(asked.get_by_role("img", name="plan.png")).to_be_visible()
    expect(asked.get_by_text("lease.md")).to_be_visible()
    expect(page.locator(".message-assistant").last).to_have_attribute("data-status", "complete")
    expect(chips).to_have_count(0)

    tap(asked.get_by_text("lease.md"))
    expect(asked.locator(".attachment-text")).to_contain_text("The rent is 940 euros.")
    assert asked.get_by_role("img", name="plan.png").evaluate("image => image.naturalWidth") == 320

    page.reload()
    expect(page.get_by_role("img", name="plan.png")).to_be_visible()
    fits_the_screen(page)
