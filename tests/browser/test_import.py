"""Conversations are imported, watched while they are read, and found; everything is exported as one file."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FilePayload, expect

from tests.browser.people import ON_BOTH, Person, Watch, tap
from tests.browser.test_look import fits_the_screen
from tests.chat.exports import CHATGPT

pytestmark = pytest.mark.browser

EXPORT = FilePayload(name="conversations.json", mimeType="application/json", buffer=CHATGPT)


@ON_BOTH
def test_an_export_of_another_assistant_is_read_reviewed_found_and_taken_along(
    newcomer: Callable[[str], Person], watch: Watch, screen: dict[str, Any], tmp_path: Path
) -> None:
    watch.forgive("status of 422")  # Chromium reports every refused request
    person = newcomer("Ines")
    person.screen = screen
    page = person.sign_up()
    page.goto("/import")
    page.get_by_label("Export file").set_input_files(
        FilePayload(name="notes.txt", mimeType="text/plain", buffer=b"hello")
    )
    tap(page.get_by_role("button", name="Import", exact=True))
    expect(page.get_by_role("alert").filter(has_text="This isn't an export that Recall knows.")).to_be_visible()

    page.get_by_label("Export file").set_input_files(EXPORT)
    tap(page.get_by_role("button", name="Import", exact=True))
    expect(page.get_by_text("Conversations: 3 new; 9 messages imported.")).to_be_visible()
    expect(page.get_by_text("6 memories to review.")).to_be_visible()
    fits_the_screen(page)

    page.get_by_label("Export file").set_input_files(EXPORT)
    tap(page.get_by_role("button", name="Import", exact=True))
    expect(page.get_by_text("Conversations: 3 already here; 0 messages imported.")).to_be_visible()
    page.goto("/memory/review")
    expect(page.locator("[data-fact]")).to_have_count(6)

    page.goto("/import")
    with page.expect_download() as sent:
        tap(page.get_by_role("link", name="Export everything"))
    sent.value.save_as(tmp_path / "all.zip")
    assert any(name.endswith(".md") for name in zipfile.ZipFile(tmp_path / "all.zip").namelist())
