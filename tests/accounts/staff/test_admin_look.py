"""The admin looks like the rest of Recall, and has the same content security policy."""

import re
from typing import Any

import pytest
from django.contrib.staticfiles import finders

from accounts.models import User
from recall.environment import BASE_DIR

CSS = BASE_DIR / "static" / "css"
PAIR = re.compile(r"light-dark\((#\w+), (#\w+)\)")


def test_each_colour_of_the_admin_is_a_token_of_recalls() -> None:
    tokens = set(PAIR.findall((CSS / "recall.css").read_text()))
    used = PAIR.findall((CSS / "admin.css").read_text())

    assert len(used) > 30
    assert set(used) <= tokens


@pytest.mark.parametrize(
    "page", ["/admin/", "/admin/chat/message/", "/admin/memory/fact/queue/", "/admin/accounts/user/"]
)
def test_its_pages_load_nothing_that_the_policy_forbids(charlie: User, client: Any, page: str) -> None:
    charlie.is_superuser = True
    charlie.save()
    client.force_login(charlie)

    response = client.get(page)
    text = response.content.decode()

    assert "script-src 'self'" in response.headers["Content-Security-Policy"]
    assert not re.search(r"<script(?![^>]* (?:src|type=\"application/json\"))|<style|\sstyle=|\son\w+=", text)
    for loaded in re.findall(r'(?:src|href)="/static/([^"?]+)"', text):
        assert finders.find(loaded), loaded
    assert "css/admin.css" in text
