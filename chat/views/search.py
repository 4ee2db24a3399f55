"""The page that searches all conversations: one form, by htmx as one types, as a plain form without JavaScript."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.models import User
from chat.conversations.search import Filter, Results, search
from chat.conversations.search_query import MAX_QUERY_CHARS
from chat.models import Conversation

MOST_PAGES = 1_000


class SearchForm(forms.Form):
    """What the page asks for. Every field may be left out."""

    q = forms.CharField(
        required=False, max_length=MAX_QUERY_CHARS, strip=False, empty_value="", label="Words, or a “phrase in quotes”"
    )
    role = forms.ChoiceField(
        required=False, label="Said by", choices=[("", "Anybody"), ("user", "Me"), ("assistant", "Recall")]
    )
    since = forms.DateField(required=False, label="From", widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(required=False, label="Up to", widget=forms.DateInput(attrs={"type": "date"}))
    archived = forms.ChoiceField(
        required=False, label="Archived ones", choices=[("", "Too"), ("no", "Leave out"), ("only", "Only these")]
    )
    order = forms.ChoiceField(required=False, label="Order", choices=[("", "Best first"), ("newest", "Newest first")])
    within = forms.UUIDField(required=False, widget=forms.HiddenInput)
    page = forms.IntegerField(required=False, min_value=1, max_value=MOST_PAGES, widget=forms.HiddenInput)

    def wanted(self) -> Filter:
        """The filter, of a form that is valid."""
        given = self.cleaned_data
        return Filter(
            role=given["role"],
            since=given["since"],
            until=given["until"],
            archived=given["archived"],
            newest_first=given["order"] == "newest",
            conversation=given["within"],
        )


@require_safe
@login_required
@never_cache
def search_conversations(request: HttpRequest) -> HttpResponse:
    """What was said in those words, and where."""
    assert isinstance(request.user, User)
    form = SearchForm(request.GET)
    is_valid = form.is_valid()
    context = _page(request.user, form) if is_valid else {"results": Results()}
    partial = ("#more" if "page" in request.GET else "#found") if request.htmx else ""  # type: ignore[attr-defined]
    status = 200 if is_valid else 422
    return render(request, f"chat/search.html{partial}", {"form": form, **context}, status=status)


def _page(user: User, form: SearchForm) -> dict[str, Any]:
    only = form.wanted()
    typed, page = form.cleaned_data["q"], form.cleaned_data["page"] or 1
    within = Conversation.objects.not_deleted().for_user(user).filter(pk=only.conversation).first()
    results = search(user, typed, only, timezone.now(), page)
    query = urlencode({name: value for name, value in form.data.items() if value and name != "page"})
    return {"results": results, "typed": typed.strip(), "within": within, "query": query}
