"""The language model in the evaluation: plausible answers for the librarian, played by the offline server."""

from collections.abc import Mapping
from typing import Any

import httpx2
from django.conf import settings

from chat.evaluation.person import Person
from memory.models import Fact

CONFIDENCE, IMPORTANCE = 0.95, 0.6


def is_model_in_use() -> bool:
    """Whether the librarian uses the model instead of the rules."""
    return bool(settings.ENVIRONMENT.librarian_engine == "model")


def script(person: Person, said: str, answer: Mapping[str, Any], number: int) -> None:
    """Script the answer to the next reading of a conversation with the words `said`.

    `answer`: `facts`, `ends` and `retracts` of known facts by their statement, an `episode`. `number`: of the message.
    """
    reply: dict[str, Any] = {"facts": [fact(one, number) for one in answer.get("facts", ())]}
    for what in ("ends", "retracts"):
        found = [withdrawal(person, one, number) for one in answer.get(what, ())]
        if found:
            reply[what] = [one for one in found if one]
    if "episode" in answer:
        reply["episode"] = answer["episode"]
    body = {"replies": [{"json": reply, "match": said[:60]}]}
    httpx2.post(f"{settings.PROVIDER_BASE_URL}/offline/script", json=body).raise_for_status()


def clear() -> None:
    """Drop answers that weren't requested."""
    httpx2.delete(f"{settings.PROVIDER_BASE_URL}/offline/script").raise_for_status()


def fact(row: Mapping[str, Any], number: int) -> dict[str, Any]:
    """A fact in the schema given to the model."""
    return {
        **{name: row[name] for name in ("statement", "kind", "quote")},
        "number": number,
        "confidence": CONFIDENCE,
        "importance": IMPORTANCE,
        "value": row.get("value", ""),
        "about_third_party": row.get("subject", "user") != "user",
        "subject": row.get("subject", "user"),
        "attribute": row.get("attribute", ""),
    }


def withdrawal(person: Person, row: Mapping[str, Any], number: int) -> dict[str, Any] | None:
    """A known fact that ended or was never true, by its number in the request; None: it isn't known."""
    numbered = sorted(person.facts(Fact.Status.ACTIVE), key=lambda fact: (not fact.key, -fact.pk))  # as in a request
    for place, known in enumerate(numbered, start=1):
        if known.statement == row["statement"]:
            when = row.get("when")
            return {"known": place, "quote": row["quote"], "number": number, "when": when and _moment(when)}
    return None


def _moment(when: str) -> str:
    year, _, month = when.partition("-")
    return f"{year}-{month or '01'}-01T00:00:00+00:00"
