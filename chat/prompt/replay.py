"""Can the request behind an answer be built again, byte for byte? From rows, by the code that built it.

A receipt keeps what no other row keeps (`ingredients`): the recalled memories, the clock and the profile update as they
were sent, the settings of the request, and of each text that has a row of its own the row's id with a fingerprint.
`replay` reads those rows, builds with `chat.prompt.request.build_request`, and compares the digest; where it differs,
the fingerprints tell what was changed or forgotten since.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, get_type_hints

from django.db.models import Q
from pydantic import TypeAdapter

from budget.models import ProfileSnapshot, Receipt
from budget.receipts.profile_snapshots import pinned_lines
from chat.attachments.prompt_blocks import PromptAttachment, load, mark_unseen
from chat.messages.history import Turn, finished_turns, tool_lines
from chat.models import Message, Project, Role, Segment
from chat.prompt import system_prompt
from chat.prompt.ablation import attachments_without, load_exclusion, segment_without, turn_without
from chat.prompt.request import FRAME, PLACEHOLDER, PromptContents, RequestOptions, build_request, digest
from chat.turn import NO_EXCLUSION, Exclusion
from memory.models import Boundary

if TYPE_CHECKING:
    from chat.prompt.assemble import AssembledPrompt

Kept = dict[str, Any]
"""What a receipt keeps of one field of `Contents`, as JSON."""

PRINT_CHARS: Final = 6
"""Of a fingerprint: it only tells which of some dozen texts changed; the digest of the whole proves that none did."""
FORGOTTEN: Final = "[forgotten]"
OTHER_WORDING: Final = (
    "Every text it was made from is unchanged, but it is not the same request: another version of Recall made it."
)
NO_INGREDIENTS: Final = (
    "The receipt does not say what the request was made from: it is older than replay, or was erased."
)
WORDS_REMOVED: Final = "What the request was made from was removed after {} days, as this server is set up."
FIRST_REMOVED: Final = "It did without a part of what the answer beside it was given; that was removed after {} days."


@dataclass(frozen=True, slots=True)
class Replay:
    """What came of building a request again."""

    request: dict[str, Any] | None
    """As rebuilt; None: it cannot be built at all."""
    identical: bool
    """Its digest is that of the request that was sent."""
    changes: tuple[str, ...] = ()
    """Sentences: what was changed or forgotten since. None where it is identical."""


def ingredients(compiled: AssembledPrompt) -> dict[str, Any]:
    """What the receipt keeps, so that `replay` can build the request again; a few kilobytes at most."""
    contents = {name: _keep(name, compiled) for name in FIELDS}
    return {
        "contents": contents,
        "settings": {
            name: each.dump_python(getattr(compiled.options, name), mode="json") for name, each in HOW.items()
        },
        "tools": _print(_canonical(compiled.request["tools"])),
        "frame": _print(FRAME + PLACEHOLDER),
        "plan": compiled.inputs.budget.plan.name,
        "unlisted": compiled.unlisted,
    }


def replay(receipt: Receipt) -> Replay:
    """Build the receipt's first request again from rows, and say whether it is the one that was sent."""
    if "contents" not in receipt.ingredients:
        return Replay(None, identical=False, changes=(_why_not(receipt),))
    rows = _rows(receipt)
    request = rebuild(receipt, rows)
    if digest(request) == receipt.request_digest:
        return Replay(request, identical=True)
    rows.changes += [*_wording_changes(receipt.ingredients, request), *_first_removed(receipt)]
    return Replay(request, identical=False, changes=tuple(rows.changes) or (OTHER_WORDING,))


def rebuild(receipt: Receipt, rows: _Rows | None = None) -> dict[str, Any]:
    """The request as its rows give it today; `rows` notes what is no longer as it was."""
    rows = rows or _rows(receipt)
    kept: Mapping[str, Kept] = receipt.ingredients["contents"]
    contents = {name: _restore(name, kept[name], rows) for name in FIELDS if name in kept}  # older ones have fewer
    how = {name: HOW[name].validate_python(value) for name, value in receipt.ingredients["settings"].items()}
    return build_request(PromptContents(**contents), RequestOptions(**how))


def _keep(name: str, compiled: AssembledPrompt) -> Any:
    keeper = KEEPERS.get(name)
    value = getattr(compiled.contents, name)
    return keeper.keep(value, compiled) if keeper else AS_SENT[name].dump_python(value, mode="json")


def _restore(name: str, kept: Any, rows: _Rows) -> Any:
    keeper = KEEPERS.get(name)
    return keeper.restore(kept, rows) if keeper else AS_SENT[name].validate_python(kept)


def _wording_changes(kept: Mapping[str, Any], request: Mapping[str, Any]) -> Iterator[str]:
    if kept["tools"] != _print(_canonical(request["tools"])):
        yield "The definitions of the tools are other ones now."
    if kept["frame"] != _print(FRAME + PLACEHOLDER):
        yield "The headings between the sections are worded otherwise now."
    if FORGOTTEN in _canonical(kept["contents"]):
        yield "Memories that it recalled were forgotten since."


def _why_not(receipt: Receipt) -> str:
    days = receipt.words_kept_days
    return NO_INGREDIENTS if days is None else WORDS_REMOVED.format(days)


def _first_removed(receipt: Receipt) -> Iterator[str]:
    """An answer without a memory was built from the receipt of the answer that had it."""
    first = Receipt.objects.filter(message_id=receipt.message.event_data.get("beside"), user=receipt.user_id)
    for days in first.exclude(words_kept_days=None).values_list("words_kept_days", flat=True):
        yield FIRST_REMOVED.format(days)


# What the rows say today -----------------------------------------------------------------------------------------


@dataclass
class _Rows:
    """Reads what the receipt refers to, and notes what is not as it was."""

    receipt: Receipt
    changes: list[str] = field(default_factory=list)
    left_out: Exclusion = NO_EXCLUSION

    def checked(self, text: str | None, expected: str, what: str) -> str:
        """`text`, with a note where it is gone, forgotten, or not the one that was sent."""
        if text is None:
            self.changes.append(f"{what} is gone.")
        elif _print(text) != expected:
            self.changes.append(f"{what} was {'forgotten' if FORGOTTEN in text else 'edited'} since.")
        return text or ""

    @property
    def question(self) -> Message | None:
        """The message that the answer answers."""
        return self.receipt.message.parent

    def path(self) -> list[Message]:
        """What came before the question on its branch, oldest first."""
        said = (Message.Event.USER_MESSAGE, Message.Event.ASSISTANT_RESPONSE)
        mine = Message.objects.for_user(self.receipt.user)
        messages = mine.filter(conversation_id=self.receipt.conversation_id, event_type__in=said)
        by_id = messages.defer("search").in_bulk()
        path: list[Message] = []
        message = by_id.get((self.question.parent_id or 0) if self.question else 0)
        while message is not None:
            path.append(message)
            message = by_id.get(message.parent_id or 0)
        return path[::-1]


def _rows(receipt: Receipt) -> _Rows:
    return _Rows(receipt, left_out=load_exclusion(receipt.message))


# How each text that has a row of its own is kept -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Keeper:
    """One field of `Contents`: what the receipt keeps of it, and how its value is found again."""

    keep: Callable[[Any, AssembledPrompt], Any]
    restore: Callable[[Any, _Rows], Any]


def _keep_blueprint(text: str, _: AssembledPrompt) -> Kept:
    return {"version": system_prompt.VERSION, "print": _print(text)}


def _restore_blueprint(kept: Kept, rows: _Rows) -> str:
    if kept["version"] != system_prompt.VERSION:
        rows.changes.append(f"The blueprint was version {kept['version']}; it is {system_prompt.VERSION} now.")
        return system_prompt.SYSTEM_PROMPT
    return rows.checked(system_prompt.SYSTEM_PROMPT, kept["print"], "The blueprint")


def _keep_boundaries(texts: Sequence[str], compiled: AssembledPrompt) -> list[Kept]:
    """By text, as `Contents` tells them: two with the same text are the same to the model."""
    ids = {boundary.text: boundary.pk for boundary in compiled.inputs.instructions.boundaries}
    return [{"id": ids[text], "print": _print(text)} for text in texts]


def _restore_boundaries(kept: Sequence[Kept], rows: _Rows) -> list[str]:
    theirs = Boundary.objects.filter(Q(user=None) | Q(user=rows.receipt.user))  # also those that hold no more
    texts = dict(theirs.filter(pk__in=[one["id"] for one in kept]).values_list("pk", "text"))
    return [rows.checked(texts.get(one["id"]), one["print"], f"Boundary {one['id']}") for one in kept]


def _keep_role(instructions: str, compiled: AssembledPrompt) -> Kept | None:
    role = compiled.inputs.instructions.role
    return {"id": role.pk, "version": role.version, "print": _print(instructions)} if role and instructions else None


def _restore_role(kept: Kept | None, rows: _Rows) -> str:
    if kept is None:
        return ""
    role: Role | None = Role.objects.for_user(rows.receipt.user).filter(pk=kept["id"]).first()
    named = f"The role (version {kept['version']} then)"
    told = _as_printed([role.prompt_text, role.instructions] if role else [], kept["print"])  # once without the name
    return rows.checked(told, kept["print"], named)


def _keep_project(told: str, compiled: AssembledPrompt) -> Kept | None:
    project = compiled.inputs.instructions.project
    return {"id": project.pk, "print": _print(told)} if project and told else None


def _restore_project(kept: Kept | None, rows: _Rows) -> str:
    if kept is None:
        return ""
    project: Project | None = Project.objects.for_user(rows.receipt.user).filter(pk=kept["id"]).first()
    return rows.checked(project.prompt_text if project else None, kept["print"], "What the project says")


def _as_printed(ways: Sequence[str], expected: str) -> str | None:
    """The one of several ways to tell it that has this fingerprint, else the first; None: there is none."""
    return next((text for text in ways if _print(text) == expected), ways[0] if ways else None)


def _keep_profile(lines: Sequence[str], compiled: AssembledPrompt) -> Kept | None:
    """Which lines of the pinned snapshot, by their place; `snapshot` on the receipt says which snapshot."""
    if not lines:
        return None
    told = list(lines)
    pinned = [line.text for line in pinned_lines(compiled.inputs.profile.snapshot)]
    return {"lines": _spans(_places(told, pinned)), "print": _print("\n".join(told))}


def _restore_profile(kept: Kept | None, rows: _Rows) -> list[str]:
    if kept is None:
        return []
    snapshot: ProfileSnapshot | None = rows.receipt.snapshot
    pinned = [line.text for line in pinned_lines(snapshot)] if snapshot else []
    lines = [pinned[place] for place in _unspanned(kept["lines"]) if place < len(pinned)]
    rows.checked("\n".join(lines) if snapshot else None, kept["print"], "The profile it was pinned to")
    return lines


def _keep_turns(turns: Sequence[Turn], _: AssembledPrompt) -> Kept:
    """Their numbers as runs; a fingerprint of each question and answer, one behind the other."""
    said = [text for turn in turns for text in _texts(turn)]
    unseen = [one.id for turn in turns for one in turn.attachments if one.is_unseen]
    kept = {"shown": _spans([turn.number for turn in turns]), "prints": "".join(map(_print, said))}
    return {**kept, "unseen": unseen} if unseen else kept


def _restore_turns(kept: Kept, rows: _Rows) -> list[Turn]:
    found = finished_turns(rows.path())
    attached = load([turn.question.pk for turn in found])
    whole = [
        replace(t, attachments=mark_unseen(attached.get(t.question.pk, ()), kept.get("unseen", ()))) for t in found
    ]
    there = {turn.number: turn_without(turn, rows.left_out) for turn in whole}
    prints = _pairs(kept["prints"])
    turns: list[Turn] = []
    for number, (question, answer) in zip(_unspanned(kept["shown"]), prints, strict=True):
        turn = there.get(number)
        if turn is None:
            rows.changes.append(f"Turn {number} is gone.")
            continue
        for text, expected, what in zip(_texts(turn), (question, answer), ("question", "answer"), strict=True):
            rows.checked(text, expected, f"The {what} of turn {number}")
        turns.append(turn)
    return turns


def _keep_segments(segments: Sequence[Segment], _: AssembledPrompt) -> list[Kept]:
    return [{"id": segment.pk, "print": _print(segment.text)} for segment in segments]


def _restore_segments(kept: Sequence[Kept], rows: _Rows) -> list[Segment]:
    found = Segment.objects.for_user(rows.receipt.user).in_bulk([one["id"] for one in kept])
    there = {pk: segment_without(segment, rows.left_out) for pk, segment in found.items()}
    for one in kept:
        segment = there.get(one["id"])
        rows.checked(segment.text if segment else None, one["print"], f"Segment {one['id']}, a summary,")
    return [there[one["id"]] for one in kept if one["id"] in there]


def _keep_attachments(attached: Sequence[PromptAttachment], _: AssembledPrompt) -> list[Kept]:
    """Those of the message, by their rows; `unseen`: told of and not shown."""
    return [{"id": one.id, "print": _print(one.print_of), "unseen": one.is_unseen} for one in attached]


def _restore_attachments(kept: Sequence[Kept], rows: _Rows) -> list[PromptAttachment]:
    found = load([rows.question.pk]) if kept and rows.question else {}
    own = attachments_without(found.get(rows.question.pk, ()) if rows.question else (), rows.left_out)
    there = {one.id: one for one in mark_unseen(own, [one["id"] for one in kept if one["unseen"]])}
    for one in kept:
        attachment = there.get(one["id"])
        rows.checked(attachment.print_of if attachment else None, one["print"], f"Attachment {one['id']}")
    return [there[one["id"]] for one in kept if one["id"] in there]


def _keep_message(text: str, compiled: AssembledPrompt) -> Kept:
    """Of the person's own words only the fingerprint; what stands around them as it was sent."""
    before, found, after = text.partition(compiled.inputs.question.message.text)
    return (
        {"print": _print(compiled.inputs.question.message.text), "before": before, "after": after}
        if found
        else {"as": text}
    )


def _restore_message(kept: Kept, rows: _Rows) -> str:
    if "as" in kept:
        return str(kept["as"])
    text = rows.checked(rows.question.text if rows.question else None, kept["print"], "The message itself")
    return f"{kept['before']}{text}{kept['after']}"


KEEPERS: Final[Mapping[str, _Keeper]] = {
    "blueprint": _Keeper(_keep_blueprint, _restore_blueprint),
    "global_boundaries": _Keeper(_keep_boundaries, _restore_boundaries),
    "own_boundaries": _Keeper(_keep_boundaries, _restore_boundaries),
    "role": _Keeper(_keep_role, _restore_role),
    "project": _Keeper(_keep_project, _restore_project),
    "profile": _Keeper(_keep_profile, _restore_profile),
    "turns": _Keeper(_keep_turns, _restore_turns),
    "segments": _Keeper(_keep_segments, _restore_segments),
    "message": _Keeper(_keep_message, _restore_message),
    "attachments": _Keeper(_keep_attachments, _restore_attachments),
}
"""Fields of `Contents` whose texts stand in rows of their own. Every other field is kept as it was sent."""


FIELDS: Final = tuple(one.name for one in fields(PromptContents))
AS_SENT: Final[Mapping[str, TypeAdapter[Any]]] = {
    name: TypeAdapter(kind) for name, kind in get_type_hints(PromptContents).items() if name not in KEEPERS
}
HOW: Final[Mapping[str, TypeAdapter[Any]]] = {
    name: TypeAdapter(kind) for name, kind in get_type_hints(RequestOptions).items()
}
"""Each field by its type, to JSON and back."""


# Fingerprints and runs -------------------------------------------------------------------------------------------


def _print(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:PRINT_CHARS]


def _texts(turn: Turn) -> tuple[str, str]:
    """What the turn says in a prompt: its question; its answer with the lines for its tools."""
    attached = [one.print_of for one in turn.attachments]
    return "\n".join([*attached, turn.question.text]), "\n".join([*tool_lines(turn.answer), turn.answer.text])


def _pairs(prints: str) -> list[tuple[str, str]]:
    each = [prints[at : at + PRINT_CHARS] for at in range(0, len(prints), PRINT_CHARS)]
    return list(zip(each[::2], each[1::2], strict=True))


def _places(told: Sequence[str], pinned: Sequence[str]) -> list[int]:
    """Where each told line stands among the pinned ones; both are in the same order."""
    places: list[int] = []
    for line in told:
        places.append(pinned.index(line, places[-1] + 1 if places else 0))
    return places


def _spans(numbers: Sequence[int]) -> list[list[int]]:
    """Rising numbers as runs: 1 2 3 7 → [1, 3], [7, 7]."""
    if not numbers:
        return []
    breaks = [(one, other) for one, other in pairwise(numbers) if other != one + 1]
    firsts = [numbers[0], *(other for _, other in breaks)]
    lasts = [*(one for one, _ in breaks), numbers[-1]]
    return [list(run) for run in zip(firsts, lasts, strict=True)]


def _unspanned(runs: Iterable[Sequence[int]]) -> list[int]:
    return [number for first, last in runs for number in range(first, last + 1)]


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
