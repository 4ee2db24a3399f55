"""The frame that previews a block of code in an answer."""

import secrets
from typing import Final

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.templatetags.static import static
from django.views.decorators.clickjacking import xframe_options_sameorigin

from chat.models import Message
from recall.rendering.previews import document, headers, is_cut_off
from recall.rendering.render import preview_blocks
from recall.views import signed_in_page, signed_in_user

DIAGRAM_SCRIPTS: Final = ("vendor/mermaid.min.js", "js/diagram.js")


@signed_in_page
@xframe_options_sameorigin
def preview(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Block `number` of the user's own answer, only within a frame of Recall's own page."""
    answers = Message.objects.not_deleted().for_user(signed_in_user(request)).filter(role=Message.Role.ASSISTANT)
    answer = get_object_or_404(answers.exclude(status=Message.Status.STREAMING).only("text"), pk=pk)
    blocks = preview_blocks(answer.text)
    if not 1 <= number <= len(blocks) or not _is_framed(request):
        raise Http404
    block, nonce = blocks[number - 1], secrets.token_urlsafe(16)
    runs_scripts = is_cut_off(request.headers.get("Sec-CH-UA", ""))
    shown = document(block, nonce, tuple(map(static, DIAGRAM_SCRIPTS)), runs_scripts=runs_scripts)
    return HttpResponse(shown, headers=headers(block, nonce, runs_scripts=runs_scripts))


def _is_framed(request: HttpRequest) -> bool:
    """Whether a page of Recall's frames it: opened on its own, it could lead the browser elsewhere.

    Browsers name the destination only to a trustworthy origin; over plain HTTP the referrer tells, which links in
    answers don't send.
    """
    destination = request.headers.get("Sec-Fetch-Dest")
    if destination is not None:
        return destination == "iframe" and request.headers.get("Sec-Fetch-Site") == "same-origin"
    return request.headers.get("Referer", "").startswith(request.build_absolute_uri("/"))
