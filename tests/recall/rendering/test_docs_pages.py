"""The documentation as pages: every file of docs/ is one, links work, code can be read, and nothing else can."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from recall.rendering.docs_pages import ELSEWHERE, MOVED, NAMES, page

DOCS = Path(__file__).resolve().parents[3] / "docs"

pytestmark = pytest.mark.django_db


def test_every_file_of_the_folder_is_a_page_once() -> None:
    assert sorted(NAMES) == sorted([*(file.stem for file in DOCS.glob("*.md")), *ELSEWHERE])


@pytest.mark.parametrize("name", NAMES)
def test_a_page_can_be_read_without_an_account_and_its_links_lead_on(name: str, client: Client) -> None:
    answer = client.get(f"/docs/{name}")
    assert answer.status_code == 200
    html = answer.content.decode()
    assert html.count("<h1") == 1
    links = set(re.findall(r'href="(/docs[^"#]*)', page(name).html))
    assert all(client.get(link).status_code == 200 for link in links), links
    assert not re.search(r'href="(?!/|#|https?:|mailto:)', page(name).html), "a link that only the repository has"


@pytest.mark.parametrize("name", NAMES)
def test_a_link_to_a_section_leads_to_its_heading(name: str) -> None:
    for other, anchor in re.findall(r'href="/docs/([\w-]+)#([^"]+)"', page(name).html):
        assert f'id="{anchor}"' in page(other).html, f"{other}#{anchor}"


def test_the_first_page_is_where_docs_begins(client: Client) -> None:
    assert b"quick-start" in client.get("/docs").content


@pytest.mark.parametrize("name", MOVED)
def test_the_address_of_a_former_page_leads_to_its_text(name: str, client: Client) -> None:
    answer = client.get(f"/docs/{name}")
    assert (answer.status_code, answer["Location"]) == (301, f"/docs/{MOVED[name]}")
    assert MOVED[name] in NAMES


def test_names_break_after_underscores_and_commas_and_commands_wrap_where_diagrams_do_not() -> None:
    assert "<code>DATABASE_<wbr>POOL_<wbr>SIZE</code>" in page("settings").html
    assert "<code>localhost,<wbr>127.0.0.1,<wbr>[::1]</code>" in page("settings").html
    assert '<pre class="wraps" tabindex="0" role="group" aria-label="Code">' in page("quick-start").html
    assert 'class="wraps"' not in page("architecture").html


def test_code_is_shown_with_an_anchor_for_each_line(client: Client) -> None:
    html = client.get("/docs/source/budget/planning/fit.py").content.decode()
    assert 'id="L-1"' in html
    assert "PRUNING_ORDER" in html


@pytest.mark.parametrize(
    "path",
    [
        "manage.py",
        ".env",
        "recall/../.env",
        "recall/../manage.py",
        "var/secret_key",
        "../shared/x.py",
        "recall/nothing.py",
        "templates/base.html",
        "//etc/passwd",
        "recall//text.py",
        "%00",
        "recall/%00.py",
        f"recall/{'x' * 5000}.py",
    ],
)
def test_nothing_but_our_own_code_is_shown(path: str, client: Client) -> None:
    assert client.get(f"/docs/source/{path}").status_code == 404


def test_there_is_no_page_of_another_name(client: Client, alice: Any) -> None:
    assert client.get("/docs/nothing").status_code == 404
