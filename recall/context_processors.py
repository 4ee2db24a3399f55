"""What every page says about the model that answers."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest


def model_in_use(request: HttpRequest) -> dict[str, object]:
    """`is_offline`: the offline demo model answers, and every page says so."""
    return {"is_offline": settings.IS_OFFLINE}
