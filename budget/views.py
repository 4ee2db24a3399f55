"""The context panel of one answer."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.models import User
from budget.models import Receipt
from budget.panel import panel


@require_safe
@login_required
@never_cache  # it fills while the answer is being written
def receipt(request: HttpRequest, message_id: int) -> HttpResponse:
    """What one answer was given, what was left out, and what it cost."""
    assert isinstance(request.user, User)
    found = get_object_or_404(Receipt.objects.for_user(request.user), message_id=message_id)
    return render(request, "budget/receipt.html", {"panel": panel(found), "receipt": found})
