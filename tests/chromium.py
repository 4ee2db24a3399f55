"""Debian's Chromium, started and ended."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import connections
from playwright.sync_api import Browser, sync_playwright

CHROMIUM = Path("/usr/bin/chromium")
WITHOUT = (
    *("site-per-process", "IsolateOrigins", "SpareRendererForSitePerProcess"),
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup"),  # two pages of its own that each window loads for its address bar
)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--renderer-process-limit=1",
    f"--disable-features={','.join(WITHOUT)}",
    "--disable-extensions",
)


@contextmanager
def launched() -> Iterator[Browser]:
    """A browser with a new profile. If none is installed, the test is skipped, which fails in CI."""
    if not CHROMIUM.exists():
        pytest.skip(f"{CHROMIUM} is missing: install Debian's package chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """For tests that answer its requests themselves, by Django in this process."""
    with pytest.MonkeyPatch.context() as patch, launched() as browser:
        # Playwright's event loop is idle while a test runs, but Django sees that there is one.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        yield browser
        connections.close_all()  # Django has its own connection inside that loop
