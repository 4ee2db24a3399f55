"""Where everything is: four places at the top, tabs in memory, five sections of settings, and no name twice."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from budget.planning.plan import HEADINGS
from memory.documents import revisions
from memory.models import Fact
from memory.pages.about import TABS
from tests.budget.rows import answer_of
from tests.test_isolation import OWN_PAGES

pytestmark = pytest.mark.django_db

SignIn = Callable[[Any], Client]


def links_of(page: str, label: str) -> list[tuple[str, bool]]:
    """Name and currentness of each link in the navigation of this label."""
    inner = page.partition(f'aria-label="{label}"')[2].partition("</nav>")[0]
    found = re.findall(r"<a([^>]+)>(.*?)</a>", inner, re.DOTALL)
    return [
        (re.sub(r"<[^>]+>|\s+", " ", words).strip(), "aria-current" in attributes)
        for attributes, words in found
        if "badge" not in attributes
    ]


def test_four_places_are_at_the_top_and_the_current_one_is_marked(alice: User, sign_in: SignIn) -> None:
    client, answer = sign_in(alice), answer_of(alice)
    current = {
        "/": "Chat", "/memory/review": "Memory", "/memory/history": "Memory", "/projects": "Projects",
        "/usage": "Usage", "/usage/advanced": "Usage", "/search": "", "/settings": "", "/answers": "Memory",
        f"/m/{answer.parent_id}/edit": "Chat", f"/receipts/{answer.pk}": "Chat",
    }  # fmt: skip
    for address, marked in current.items():
        links = links_of(client.get(address).content.decode(), "Main")
        assert [name for name, _ in links] == ["Chat", "Memory", "Projects", "Usage"]
        assert [name for name, is_current in links if is_current] == ([marked] if marked else []), address


def test_memory_has_four_tabs_and_the_rest_in_its_menu(alice: User, sign_in: SignIn) -> None:
    Fact.objects.create(user=alice, statement="The user sings.", status="proposed")
    fact = Fact.objects.create(user=alice, statement="The user dances.", status="active")
    client = sign_in(alice)
    tabs = ["About you", "To review", "Documents", "Timeline"]
    current = {
        "/memory/about": "About you", f"/memory/facts/{fact.pk}": "About you", "/memory/review": "To review",
        "/memory/documents": "Documents", "/memory/timeline": "Timeline", "/memory/rules": "Rules",
        "/memory/history": "History", "/memory/time-travel": "Time travel", "/memory/access-log": "Access log",
        "/answers": "Time travel", "/memory/forgotten": "Forgetting", "/memory/forget/topic": "Forgetting",
        f"/memory/forget?what=fact&id={fact.pk}": "Forgetting",
    }  # fmt: skip
    menu = ["Rules", "History", "Time travel", "Access log", "Forgetting"]
    for address, marked in current.items():
        page = client.get(address).content.decode()
        names = [(name.removesuffix("1").strip(), is_current) for name, is_current in links_of(page, "Memory")]
        assert [name for name, _ in names] == [*tabs, *([] if marked in tabs else [marked]), *menu], address
        assert [name for name, is_current in names if is_current] == [marked] * (1 + (marked in menu)), address
        assert re.search(r'id="tab-count">1<', page)


def test_settings_have_five_sections(alice: User, sign_in: SignIn) -> None:
    links = links_of(sign_in(alice).get("/settings").content.decode(), "Settings")
    assert [name for name, _ in links] == ["Account", "Model", "Security", "API keys", "Data"]


def test_no_two_pages_share_a_name(alice: User, sign_in: SignIn) -> None:
    revisions.save(alice, "/projects/garden/plan", "Tulips.", started_from=0)
    client = sign_in(alice)
    names: dict[str, str] = {}
    own_pages = {reverse(name) for name in OWN_PAGES if name not in ("import_jobs", "new_messages")}
    for address in {*own_pages, "/memory/documents/projects"}:
        response = client.get(address)
        found = re.search(r"<h1[^>]*>(.*?)</h1>", response.content.decode(), re.DOTALL)
        if response.status_code == 200 and found:
            name = as_a_name(found[1])
            assert name not in names, (address, names[name])
            names[name] = address
    assert len(names) > 20
    fields = re.findall(r"<label[^>]*>([^<]+)</label>", client.get("/memory/about").content.decode())
    labels = {*(label for label, _ in TABS.values()), *HEADINGS.values(), *fields}
    assert [label for label in labels if as_a_name(label) in names] == []


def as_a_name(words: str) -> str:
    """Without its case and number: “Rule” is too close to “Rules”."""
    return words.strip().casefold().removesuffix("s")
