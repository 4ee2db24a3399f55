"""Views of the rules page: what is saved automatically, and consolidation, whose report htmx polls for."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache

from memory.consolidation import jobs
from memory.forms import PoliciesForm
from memory.librarian.policies import set_rules
from memory.pages.consolidation import load_reports
from memory.pages.review import build_rules_page
from recall.views import first_error, is_htmx, post_only, signed_in_form, signed_in_page, signed_in_user

PAGE = "memory:rules"
ANCHOR = "clean-up"


@signed_in_form
def rules_page(request: HttpRequest) -> HttpResponse:
    """The memory rules, with the share of correct proposals."""
    if request.method != "POST":
        return render(request, "memory/rules.html", build_rules_page(signed_in_user(request)))
    form = PoliciesForm(request.POST)
    if not form.is_valid():
        more = {"sentence": f"Nothing was saved. {first_error(form)}"}
        return render(request, "memory/rules.html", {**build_rules_page(signed_in_user(request)), **more}, status=422)
    set_rules(signed_in_user(request), form.rules())
    messages.success(request, "Rules saved. They apply to new memories.")
    return redirect(PAGE)


@post_only(PAGE, at=ANCHOR)
@never_cache
def start_consolidation(request: HttpRequest) -> HttpResponse:
    """Queue consolidation; requested twice, it is queued once."""
    consolidation = jobs.request_consolidation(signed_in_user(request))
    if is_htmx(request):
        return render(request, "memory/clean_ups.html", load_reports(signed_in_user(request)))
    messages.success(request, " ".join(jobs.sentences(consolidation)))
    return redirect(f"{reverse(PAGE)}#{ANCHOR}")


@signed_in_page
def consolidation_reports(request: HttpRequest) -> HttpResponse:
    """The reports alone, for a page that polls."""
    if not is_htmx(request):
        return redirect(f"{reverse(PAGE)}#{ANCHOR}")
    return render(request, "memory/clean_ups.html", load_reports(signed_in_user(request)))
