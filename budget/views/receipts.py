"""Pages of one answer's receipt: the context panel, its debug output for staff, and the line beside the composer."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from uuid import UUID, uuid4

from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from accounts.models import User
from budget.models import Receipt
from budget.pages import live
from budget.pages.context_panel import EXPLAINED, named_in, new_statement, panel
from budget.receipts.debug import VIEWS, build_views
from chat.models import Conversation, Message
from chat.prompt.stated_identity import open_offers
from chat.turns.comparison import tried_without
from memory.models import Chunk, Episode, Fact
from memory.pages.knowledge import document_url
from memory.refs import ids_by_kind
from memory.review.decisions import CORRECTABLE
from recall.views import is_htmx, signed_in_page, signed_in_user

CORRECTIONS: Final = 5
"""Replacements of a fact, each by the next, that are followed to the latest."""
QUOTED: Final = 200
"""Characters of a message that perhaps changed another."""


@signed_in_page  # the receipt grows while the answer is being written
def receipt(request: HttpRequest, message_id: int) -> HttpResponse:
    """What one answer used, what was left out, and what it cost."""
    user = signed_in_user(request)
    receipts = Receipt.objects.for_user(user).filter(conversation__deleted_at=None)
    found = receipts.filter(message_id=message_id).first()
    if found is None:
        answers = Message.objects.not_deleted().for_user(user).filter(role=Message.Role.ASSISTANT)
        answer = get_object_or_404(answers, pk=message_id)
        template = "budget/receipt_page.html#no_receipt" if is_htmx(request) else "budget/receipt_page.html"
        return render(request, template, {"answer_id": answer.pk, "conversation": answer.conversation})
    facts = _load_facts(user, found)
    context = {
        "panel": panel(
            found,
            _load_quotes(user, found, facts),
            _load_replacements(user, found),
            dict(_load_origins(user, found)),
            _by_ref(found, {fact: fact.pk for fact in facts if fact.status in CORRECTABLE}),
        ),
        "receipt": found,
        "answer_id": message_id,
        "nonce": uuid4(),
        "tried": tried_without(user, message_id),
        "offers": open_offers(user, found.ingredients.get("stated", {})),
    }
    if is_htmx(request):
        return render(request, "budget/receipt.html", context)
    question = Message.objects.not_deleted().for_user(user).filter(children=message_id).first()
    return render(
        request, "budget/receipt_page.html", {**context, "question": question, "conversation": found.conversation}
    )


def _load_facts(user: User, found: Receipt) -> list[Fact]:
    """The facts that are listed, and those that are listed as new in the profile."""
    listed = Q(pk__in=ids_by_kind(item["ref"] for item in found.items)["fact"])
    stated = Q(statement__in=_refs_of_new(found), status=Fact.Status.ACTIVE)
    return list(Fact.objects.for_user(user).filter(listed | stated).only("statement", "quote", "status", "user"))


def _refs_of_new(found: Receipt) -> dict[str, str]:
    """Statements that are new in the profile, with the refs of their items."""
    return {statement: item["ref"] for item in found.items if (statement := new_statement(item))}


def _load_quotes(user: User, found: Receipt, facts: Sequence[Fact]) -> dict[str, str]:
    """By ref: the words that each fact was learned from, and of messages that perhaps changed others."""
    newer = (
        Message.objects.not_deleted().for_user(user).filter(pk__in=ids_by_kind(map(named_in, found.items))["message"])
    )
    quotes = _by_ref(found, {fact: fact.quote for fact in facts if fact.quote})
    return quotes | {f"message:{pk}": text[:QUOTED] for pk, text in newer.values_list("pk", "text")}


def _by_ref[T](found: Receipt, values: Mapping[Fact, T]) -> dict[str, T]:
    """Values by the refs of the items that the facts are listed as."""
    new = _refs_of_new(found)
    stated = {new[fact.statement]: value for fact, value in values.items() if fact.statement in new}
    return stated | {fact.ref: value for fact, value in values.items()}


def _load_replacements(user: User, found: Receipt) -> dict[str, str]:
    """By ref: the latest statement that replaced each listed fact, which may be corrected again and again."""
    listed = ids_by_kind(item["ref"] for item in found.items)["fact"]
    latest: dict[int, tuple[int, str]] = {pk: (pk, "") for pk in listed}
    for _ in range(CORRECTIONS):
        old = Fact.objects.for_user(user).filter(pk__in={pk for pk, _ in latest.values()}, superseded_by__isnull=False)
        newer = {pk: (by, text) for pk, by, text in old.values_list("pk", "superseded_by", "superseded_by__statement")}
        if not newer:
            break
        latest = {pk: newer.get(now[0], now) for pk, now in latest.items()}
    return {f"fact:{pk}": statement for pk, (_, statement) in latest.items() if statement}


def _load_origins(user: User, found: Receipt) -> Iterator[tuple[str, tuple[str, str]]]:
    """By ref: title and URL of each passage's document, each episode's conversation, and each message's if another."""
    listed = ids_by_kind(item["ref"] for item in found.items if item["section"] in EXPLAINED)
    if listed["chunk"]:
        passages = Chunk.objects.for_user(user).filter(pk__in=listed["chunk"], document__isnull=False)
        for pk, number, path, title in passages.values_list("pk", "number", "document__path", "document__title"):
            yield f"chunk:{pk}", (title, f"{document_url(path)}#passage-{number}")
    if listed["episode"]:
        episodes = Episode.objects.for_user(user).not_deleted().filter(pk__in=listed["episode"])
        of_talks = episodes.filter(conversation__isnull=False)
        for pk, talk, title in of_talks.values_list("pk", "conversation", "conversation__title"):
            yield f"episode:{pk}", (title or "Untitled", f"{reverse('memory:story', args=[talk])}#episode-{pk}")
    if listed["message"]:
        said = Message.objects.not_deleted().for_user(user).filter(pk__in=listed["message"])
        elsewhere = said.exclude(conversation=found.conversation_id)
        for pk, title in elsewhere.values_list("pk", "conversation__title"):
            yield f"message:{pk}", (title or "Untitled", reverse("message", args=[pk]))


@signed_in_page  # the receipt grows while the answer is being written
def debug(request: HttpRequest, message_id: int) -> HttpResponse:
    """MEMORY_DEBUG, RAG_DEBUG and SEARCH_DEBUG of the user's own turn; staff only."""
    receipts = Receipt.objects.for_user(signed_in_user(request)).filter(conversation__deleted_at=None)
    found = get_object_or_404(receipts.select_related("message"), message_id=message_id)
    if not request.user.is_staff:
        raise PermissionDenied
    views = [(name, json.dumps(view, ensure_ascii=False, indent=2)) for name, view in build_views(found, VIEWS).items()]
    return render(request, "budget/debug.html", {"views": views})


@signed_in_page
def line(request: HttpRequest, conversation: UUID) -> HttpResponse:
    """The small bar below the composer: the latest turn of one conversation, once it fills much of the budget."""
    conversations = Conversation.objects.not_deleted().for_user(signed_in_user(request)).only("user")
    found = get_object_or_404(conversations, pk=conversation)
    return render(request, "budget/parts.html#line", {"turn": live.load_filling_turn(found.pk)})
