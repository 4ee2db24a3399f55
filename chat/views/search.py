"""View of the conversation search: one form, submitted by htmx while the user types, or without JavaScript."""

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
from recall.views import is_htmx, signed_in_user

MOST_PAGES = 1_000


class SearchForm(forms.Form):
    """Query and filters; every field is optional."""

    q = forms.CharField(
        required=False, max_length=MAX_QUERY_CHARS, strip=False, empty_value="", label="Words, or a “phrase in quotes”"
    )
    role = forms.ChoiceField(
        required=False, label="Author", choices=[("", "Anyone"), ("user", "You"), ("assistant", "Recall")]
    )
    since = forms.DateField(required=False, label="From", widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(required=False, label="To", widget=forms.DateInput(attrs={"type": "date"}))
    archived = forms.ChoiceField(
        required=False, label="Archived", choices=[("", "Include"), ("no", "Exclude"), ("only", "Only")]
    )
    order = forms.ChoiceField(required=False, label="Sort by", choices=[("", "Best match"), ("newest", "Newest")])
    within = forms.UUIDField(required=False, widget=forms.HiddenInput)
    page = forms.IntegerField(required=False, min_value=1, max_value=MOST_PAGES, widget=forms.HiddenInput)

    def build_filter(self) -> Filter:
        """The search filter of a valid form."""
        data = self.cleaned_data
        return Filter(
            **{name: data[name] for name in ("role", "since", "until", "archived")},
            newest_first=data["order"] == "newest",
            conversation=data["within"],
        )


@require_safe
@login_required
@never_cache
def search_conversations(request: HttpRequest) -> HttpResponse:
    """Messages that match the query, grouped by conversation."""
    form = SearchForm(request.GET)
    is_valid = form.is_valid()
    context = _search_context(signed_in_user(request), form) if is_valid else {"results": Results()}
    partial = ("#more" if "page" in request.GET else "#found") if is_htmx(request) else ""
    status = 200 if is_valid else 422
    return render(request, f"chat/search.html{partial}", {"form": form, **context}, status=status)


def _search_context(user: User, form: SearchForm) -> dict[str, Any]:
    only = form.build_filter()
    typed, page = form.cleaned_data["q"], form.cleaned_data["page"] or 1
    within = Conversation.objects.not_deleted().for_user(user).filter(pk=only.conversation).first()
    results = search(user, typed, only, timezone.now(), page)
    query = urlencode({name: value for name, value in form.data.items() if value and name != "page"})
    return {"results": results, "typed": typed.strip(), "within": within, "query": query}
