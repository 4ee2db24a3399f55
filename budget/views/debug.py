"""The debug output of one answer, at the end of its context panel: for staff, of their own turns."""

from __future__ import annotations

import json

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.models import User
from budget.models import Receipt
from budget.receipts.debug import VIEWS, build_views


@require_safe
@login_required
@never_cache  # it fills while the answer is being written
def debug(request: HttpRequest, message_id: int) -> HttpResponse:
    """MEMORY_DEBUG, RAG_DEBUG and SEARCH_DEBUG of one's own turn."""
    assert isinstance(request.user, User)
    own = Receipt.objects.for_user(request.user).filter(conversation__deleted_at=None).select_related("message")
    found = get_object_or_404(own, message_id=message_id)
    if not request.user.is_staff:
        raise PermissionDenied
    views = build_views(found, VIEWS)
    shown = [(name, json.dumps(view, ensure_ascii=False, indent=2)) for name, view in views.items()]
    return render(request, "budget/debug.html", {"views": shown})
