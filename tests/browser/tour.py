"""The pages to look at: one table, for axe, for screenshots, and for reading without scripts."""

import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Final

import psycopg
from playwright.sync_api import Page, expect

from tests.browser.people import OfflineServer, Person, ask, last_answer
from tests.running import PROJECT, App, clean_environment, wait_until

PLACES: Final[Mapping[str, str]] = {
    "new": "/",
    "conversation": "/c/{conversation}",
    "formulas": "/c/{formulas}",
    "edit": "/m/{question}/edit",
    "conversation-menu": "/c/{conversation}/menu",
    "search": "/search?q=Where+does+my+sister+live%3F",
    "search-conversations": "/search?q=seagrass&in=conversations",
    "search-facts": "/search?q=Where+does+my+sister+live%3F&in=facts",
    "search-documents": "/search?q=seagrass&in=documents",
    "answers": "/answers",
    "import": "/import",
    "shortcuts": "/shortcuts",
    "projects": "/projects",
    "project": "/projects/{project}",
    "roles": "/roles",
    "settings": "/settings",
    "settings-model": "/settings/model",
    "settings-security": "/settings/security",
    "settings-keys": "/settings/keys",
    "settings-data": "/settings/data",
    "about": "/memory/about",
    "fact": "/memory/facts/{fact}",
    "why": "/memory/why/{answer}/fact:{fact}",
    "review": "/memory/review",
    "documents": "/memory/documents",
    "document": "/memory/documents/projects/seagrass/outline",
    "versions": "/memory/versions/{document}",
    "folder": "/memory/documents/projects",
    "timeline": "/memory/timeline",
    "story": "/memory/timeline/{story}",
    "rules": "/memory/rules",
    "history": "/memory/history",
    "time-travel": "/memory/time-travel",
    "access-log": "/memory/access-log",
    "forget": "/memory/forget?what=fact&id={fact}",
    "forgotten": "/memory/forgotten",
    "usage": "/usage",
    "usage-advanced": "/usage/advanced",
    "receipt": "/receipts/{answer}",
    "email": "/accounts/email/",
    "password": "/accounts/password/change/",
    "sign-out": "/accounts/logout/",
    "delete-account": "/accounts/delete",
    "archived": "/?list=archived",
    "select": "/?select=some",
    "docs": "/docs",
    "docs-settings": "/docs/settings",
    "docs-source": "/docs/source/recall/figures.py",
    "api-docs": "/api/v1/docs",
    "not-found": "/nowhere",
}
"""Pages of a user who has used Recall for weeks, by name; in braces what `furnish` returns."""

ENTRANCES: Final[Mapping[str, str]] = {
    "landing": "/",
    "sign-in": "/accounts/login/",
    "sign-up": "/accounts/signup/",
    "forgotten-password": "/accounts/password/reset/",
}
"""Pages for visitors who aren't signed in."""

QUESTION: Final = "Where does my sister live, and what may I cook for Saturday?"
ANSWER: Final = """Your sister Ines lives in Porto, where she has her bakery.

For Saturday: a **gratin of courgettes and chard**. It stands in the oven while you talk, it has no meat for Tomás, and
no shellfish for you.

- 800 g courgettes, chard, two onions
- 200 ml cream, nutmeg
- 40 minutes at 190 °C
"""


def visit(page: Page, address: str) -> None:
    """Open a page of the tour. It must be the page that is meant: neither another nor an error."""
    response = page.goto(address)
    assert response is not None
    assert response.status == (404 if address == PLACES["not-found"] else 200), (address, response.status)
    assert page.url.partition("//")[2].partition("/")[2] == address.removeprefix("/"), (address, page.url)


def furnish(person: Person, app: App, offline: OfflineServer) -> dict[str, str]:
    """Sign up, use Recall for weeks, let the librarian read, and ask one question; returns the names that PLACES fills
    in."""
    person.sign_up()
    environment = clean_environment(VAR_DIR=str(app.var_dir), DJANGO_SETTINGS_MODULE="recall.settings")
    told = subprocess.run(
        [sys.executable, "-m", "tests.browser.sample_account", person.email],
        cwd=PROJECT, env=environment, check=True, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    places: dict[str, str] = json.loads(told.stdout.splitlines()[-1])
    with psycopg.connect(app.conninfo(), autocommit=True) as database:
        unread = "SELECT count(*) FROM memory_librarianrun WHERE state IN ('pending', 'running')"
        wait_until(lambda: database.execute(unread).fetchone() == (0,))
        page = person.tab(f"/c/{places['conversation']}")
        offline.reply(ANSWER, match=QUESTION, seconds_a_word=0)
        ask(page, QUESTION)
        expect(last_answer(page)).to_contain_text("190 °C")
        owned = "FROM {} WHERE user_id = (SELECT id FROM accounts_user WHERE email = %s) {}"
        for name, sql in (
            ("answer", owned.format("chat_message", "AND role = 'assistant' ORDER BY id DESC")),
            ("question", owned.format("chat_message", "AND role = 'user' ORDER BY id DESC")),
            ("project", owned.format("chat_project", "")),
            ("document", owned.format("memory_document", "AND source = 'user' ORDER BY id")),
            ("fact", owned.format("memory_fact", "AND status = 'active' ORDER BY importance DESC, id")),
        ):
            row = database.execute(f"SELECT id {sql} LIMIT 1", [person.email]).fetchone()
            assert row is not None, f"there is no {name} to look at"
            places[name] = str(row[0])
    return places
