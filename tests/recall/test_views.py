"""A form's URL that is typed in, or reloaded after an error, leads to the page with the form."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db

SignIn = Callable[[Any], Client]


@pytest.mark.parametrize(
    ("address", "page"),
    [
        ("/usage/plan", "/usage/advanced#plan"),
        ("/usage/limits", "/usage#limits"),
        ("/memory/new", "/memory/documents"),
        ("/memory/move", "/memory/documents"),
        ("/memory/tags", "/memory/documents"),
        ("/memory/save/1", "/memory/documents"),
        ("/memory/boundaries", "/memory/about#boundaries"),
        ("/memory/facts/7/correct", "/memory/facts/7"),
        ("/memory/review/together", "/memory/review"),
        ("/memory/review/7/accept", "/memory/review"),
        ("/memory/review/7/rule", "/memory/review"),
        ("/projects/7/delete", "/projects"),
        ("/projects/7/upload", "/projects/7"),
        ("/roles/7", "/roles"),
        ("/roles/7/delete", "/roles"),
    ],
)
def test_a_look_at_a_forms_address_leads_to_its_page(sign_in: SignIn, alice: Any, address: str, page: str) -> None:
    client = sign_in(alice)
    response = client.get(address)
    assert (response.status_code, response["Location"]) == (302, page)
    assert client.put(address).status_code == 405


@pytest.mark.parametrize("address", ["/usage/plan", "/memory/new", "/roles/undo"])
def test_who_is_not_signed_in_signs_in_first(client: Client, address: str) -> None:
    response = client.get(address, follow=True)
    assert response.redirect_chain[-1][0].startswith("/accounts/login/")
