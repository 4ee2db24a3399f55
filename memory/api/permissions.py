"""May a key write here? What the profile says stands in every prompt, and its lines tell facts: who writes one decides.

So a key that may write but not decide keeps out of the profile, and away from lines that tell facts wherever they are.
"""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest

from accounts.api.auth import check_scope, person
from memory.documents.fact_line_edits import PROFILE, is_profile
from memory.models import Document
from memory.text.fact_lines import facts_in

DECIDES: Final = "review"
"""The scope that such writing takes beside `memory:write`."""


def may_write(request: HttpRequest, *places: str, text: str = "") -> None:
    """See to it that the caller may write `text` at these paths, or move them.

    Raises:
        Refusal: a key that would decide, and may not.
    """
    within = [f"/{place.strip('/')}/" for place in places]
    inside = any(f"{PROFILE}/".startswith(place) or place.startswith(f"{PROFILE}/") for place in within)
    standing = Document.objects.for_user(person(request)).filter(path__in=places)
    if inside or facts_in(text) or any(is_profile(one) or facts_in(one.text) for one in standing):
        check_scope(request, DECIDES)
