"""Replay: rebuild the request behind an answer from rows, byte for byte, and say what changed since.

A receipt stores what no other row has (`ingredients`): the recalled memories, the clock and the profile update as sent,
the options of the request, and for each text with its own row that row's id and a fingerprint. `replay` reads those
rows, builds with `build_request`, and compares the digest; if it differs, the fingerprints show what was changed or
forgotten.
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
from chat.prompt.ablation import attachments_without, load_exclusion, segment_without, turn_without
from chat.prompt.forgotten_topics import load_forgotten_then
from chat.prompt.request import FRAME, PLACEHOLDER, PromptContents, RequestOptions, build_request, digest
from chat.prompt.system_prompt import PROMPTS, VERSION
from chat.turn import NO_EXCLUSION, Exclusion
from memory.models import Boundary
from memory.refs import ids_by_kind

if TYPE_CHECKING:
    from chat.prompt.assemble import AssembledPrompt

Kept = dict[str, Any]
"""A receipt's stored form of one field of `PromptContents`, as JSON."""

PRINT_CHARS: Final = 6
"""Characters of a fingerprint: it only shows which of a few dozen texts changed; the digest proves that none did."""
FORGOTTEN: Final = "[forgotten]"
OTHER_WORDING: Final = (
    "Every text it was built from is unchanged, but the request differs: another version of Recall built it."
)
NO_INGREDIENTS: Final = (
    "The receipt doesn't say what the request was built from: it is older than replay, or was erased."
)
WORDS_REMOVED: Final = "What the request was built from was removed after {} days, by this server's retention setting."
FIRST_REMOVED: Final = "It was built without a part of the first answer's prompt; that part was removed after {} days."


@dataclass(frozen=True, slots=True)
class Replay:
    """Result of rebuilding a request."""

    request: dict[str, Any] | None
    """The rebuilt request; None: it can't be rebuilt."""
    identical: bool
    """Whether its digest equals that of the request that was sent."""
    changes: tuple[str, ...] = ()
    """Sentences: what was changed or forgotten since; empty if identical."""


def ingredients(prompt: AssembledPrompt) -> dict[str, Any]:
    """What the receipt stores so that `replay` can rebuild the request; a few kilobytes at most."""
    contents, stated = {name: _keep(name, prompt) for name in FIELDS}, prompt.inputs.clock.stated
    return {
        "contents": contents,
        "settings": {
            name: each.dump_python(getattr(prompt.options, name), mode="json") for name, each in OPTION_TYPES.items()
        },
        "tools": _fingerprint(_canonical(prompt.request["tools"])),
        "frame": _fingerprint(FRAME + PLACEHOLDER),
        "plan": prompt.inputs.budget.plan.name,
        "unlisted": prompt.unlisted,
        "forget_requests": [f"message:{pk}" for pk in prompt.inputs.excluded.requests],
        "stated": {"preferred_name": stated.preferred_name, "time_zone": stated.time_zone},
    }


def replay(receipt: Receipt) -> Replay:
    """Rebuild the receipt's first request from rows, and say whether it is the one that was sent."""
    if "contents" not in receipt.ingredients:
        days = receipt.words_kept_days
        why = NO_INGREDIENTS if days is None else WORDS_REMOVED.format(days)
        return Replay(None, identical=False, changes=(why,))
    rows = _rows(receipt)
    request = rebuild(receipt, rows)
    if digest(request) == receipt.request_digest:
        return Replay(request, identical=True)
    rows.changes += [*_wording_changes(receipt.ingredients, request), *_first_removed(receipt)]
    return Replay(request, identical=False, changes=tuple(rows.changes) or (OTHER_WORDING,))


def rebuild(receipt: Receipt, rows: _Rows | None = None) -> dict[str, Any]:
    """The request from today's rows; `rows` notes what changed."""
    rows = rows or _rows(receipt)
    kept: Mapping[str, Kept] = receipt.ingredients["contents"]
    # older receipts have fewer fields
    contents = {name: _restore(name, kept[name], rows) for name in FIELDS if name in kept}
    how = {name: OPTION_TYPES[name].validate_python(value) for name, value in receipt.ingredients["settings"].items()}
    return build_request(PromptContents(**contents), RequestOptions(**how))


def _keep(name: str, prompt: AssembledPrompt) -> Any:
    keeper = KEEPERS.get(name)
    value = getattr(prompt.contents, name)
    return keeper.keep(value, prompt) if keeper else AS_SENT[name].dump_python(value, mode="json")


def _restore(name: str, kept: Any, rows: _Rows) -> Any:
    keeper = KEEPERS.get(name)
    return keeper.restore(kept, rows) if keeper else AS_SENT[name].validate_python(kept)


def _wording_changes(kept: Mapping[str, Any], request: Mapping[str, Any]) -> Iterator[str]:
    if kept["tools"] != _fingerprint(_canonical(request["tools"])):
        yield "The tool definitions have changed."
    if kept["frame"] != _fingerprint(FRAME + PLACEHOLDER):
        yield "The headings between the sections have changed."
    if FORGOTTEN in _canonical(kept["contents"]):
        yield "Some of its recalled memories were forgotten."


def _first_removed(receipt: Receipt) -> Iterator[str]:
    """What has been removed from the receipt of the first answer, from which a trial was built."""
    first = Receipt.objects.filter(message_id=receipt.message.event_data.get("beside"), user=receipt.user_id)
    for days in first.exclude(words_kept_days=None).values_list("words_kept_days", flat=True):
        yield FIRST_REMOVED.format(days)


# Today's rows ----------------------------------------------------------------------------------------------------


@dataclass
class _Rows:
    """Reads the rows the receipt refers to, and notes what changed."""

    receipt: Receipt
    changes: list[str] = field(default_factory=list)
    left_out: Exclusion = NO_EXCLUSION

    def checked(self, text: str | None, expected: str, what: str) -> str:
        """`text`, with a note if it is gone, forgotten, or differs from the one that was sent."""
        if text is None:
            self.changes.append(f"{what} is gone.")
        elif _fingerprint(text) != expected:
            self.changes.append(f"{what} was {'forgotten' if FORGOTTEN in text else 'edited'} since.")
        return text or ""

    @property
    def question(self) -> Message | None:
        """The question of the answer."""
        return self.receipt.message.parent

    def path(self) -> list[Message]:
        """The messages before the question on its branch, oldest first."""
        said = (Message.Event.USER_MESSAGE, Message.Event.ASSISTANT_RESPONSE)
        owned = Message.objects.for_user(self.receipt.user)
        messages = owned.filter(conversation_id=self.receipt.conversation_id, event_type__in=said)
        by_id = messages.defer("search").in_bulk()
        path: list[Message] = []
        message = by_id.get((self.question.parent_id or 0) if self.question else 0)
        while message is not None:
            path.append(message)
            message = by_id.get(message.parent_id or 0)
        return path[::-1]


def _rows(receipt: Receipt) -> _Rows:
    requests = ids_by_kind(receipt.ingredients.get("forget_requests", []))["message"]
    forgotten = load_forgotten_then(receipt.user, requests)
    return _Rows(receipt, left_out=forgotten.and_also(load_exclusion(receipt.message)))


# Texts with rows of their own -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Keeper:
    """One field of `PromptContents`: what the receipt stores of it, and how to restore its value."""

    keep: Callable[[Any, AssembledPrompt], Any]
    restore: Callable[[Any, _Rows], Any]


def _keep_blueprint(text: str, _: AssembledPrompt) -> Kept:
    version = next(version for version, known in PROMPTS.items() if known == text)
    return {"version": version, "print": _fingerprint(text)}


def _restore_blueprint(kept: Kept, rows: _Rows) -> str:
    sent = PROMPTS.get(kept["version"])
    if sent is None:
        rows.changes.append(f"The blueprint was version {kept['version']}; it is {VERSION} now.")
        return PROMPTS[VERSION]
    return rows.checked(sent, kept["print"], "The blueprint")


def _keep_boundaries(texts: Sequence[str], prompt: AssembledPrompt) -> list[Kept]:
    """Identified by text: two boundaries with the same text are the same to the model."""
    ids = {boundary.text: boundary.pk for boundary in prompt.inputs.instructions.boundaries}
    return [{"id": ids[text], "print": _fingerprint(text)} for text in texts]


def _restore_boundaries(kept: Sequence[Kept], rows: _Rows) -> list[str]:
    theirs = Boundary.objects.filter(Q(user=None) | Q(user=rows.receipt.user))  # including retired ones
    texts = dict(theirs.filter(pk__in=[item["id"] for item in kept]).values_list("pk", "text"))
    return [rows.checked(texts.get(item["id"]), item["print"], f"Boundary {item['id']}") for item in kept]


def _keep_role(instructions: str, prompt: AssembledPrompt) -> Kept | None:
    role = prompt.inputs.instructions.role
    return (
        {"id": role.pk, "version": role.version, "print": _fingerprint(instructions)} if role and instructions else None
    )


def _restore_role(kept: Kept | None, rows: _Rows) -> str:
    if kept is None:
        return ""
    role: Role | None = Role.objects.for_user(rows.receipt.user).filter(pk=kept["id"]).first()
    named = f"The role (then version {kept['version']})"
    # older receipts have the instructions without the name
    wordings = [role.prompt_text, role.instructions] if role else []
    text = _matching(wordings, kept["print"])
    return rows.checked(text, kept["print"], named)


def _keep_project(text: str, prompt: AssembledPrompt) -> Kept | None:
    project = prompt.inputs.instructions.project
    return {"id": project.pk, "print": _fingerprint(text)} if project and text else None


def _restore_project(kept: Kept | None, rows: _Rows) -> str:
    if kept is None:
        return ""
    project: Project | None = Project.objects.for_user(rows.receipt.user).filter(pk=kept["id"]).first()
    return rows.checked(project.prompt_text if project else None, kept["print"], "The project's text")


def _matching(wordings: Sequence[str], expected: str) -> str | None:
    """The wording with this fingerprint, else the first; None: there is none."""
    return next((text for text in wordings if _fingerprint(text) == expected), wordings[0] if wordings else None)


def _keep_profile(lines: Sequence[str], prompt: AssembledPrompt) -> Kept | None:
    """Lines of the pinned snapshot, by position; the receipt's `snapshot` says which snapshot."""
    if not lines:
        return None
    pinned = [line.text for line in pinned_lines(prompt.inputs.profile.snapshot)]
    return {"lines": _to_runs(_positions(lines, pinned)), "print": _fingerprint("\n".join(lines))}


def _restore_profile(kept: Kept | None, rows: _Rows) -> list[str]:
    if kept is None:
        return []
    snapshot: ProfileSnapshot | None = rows.receipt.snapshot
    pinned = [line.text for line in pinned_lines(snapshot)] if snapshot else []
    lines = [pinned[place] for place in _from_runs(kept["lines"]) if place < len(pinned)]
    rows.checked("\n".join(lines) if snapshot else None, kept["print"], "The profile it was pinned to")
    return lines


def _keep_turns(turns: Sequence[Turn], _: AssembledPrompt) -> Kept:
    """Turn numbers as runs, and the concatenated fingerprints of each question and answer."""
    said = [text for turn in turns for text in _texts(turn)]
    unseen = [attachment.id for turn in turns for attachment in turn.attachments if attachment.is_unseen]
    kept = {"shown": _to_runs([turn.number for turn in turns]), "prints": "".join(map(_fingerprint, said))}
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
    for number, (question, answer) in zip(_from_runs(kept["shown"]), prints, strict=True):
        turn = there.get(number)
        if turn is None:
            rows.changes.append(f"Turn {number} is gone.")
            continue
        for text, expected, what in zip(_texts(turn), (question, answer), ("question", "answer"), strict=True):
            rows.checked(text, expected, f"The {what} of turn {number}")
        turns.append(turn)
    return turns


def _keep_segments(segments: Sequence[Segment], _: AssembledPrompt) -> list[Kept]:
    return [{"id": segment.pk, "print": _fingerprint(segment.text)} for segment in segments]


def _restore_segments(kept: Sequence[Kept], rows: _Rows) -> list[Segment]:
    found = Segment.objects.for_user(rows.receipt.user).in_bulk([item["id"] for item in kept])
    there = {pk: segment_without(segment, rows.left_out) for pk, segment in found.items()}
    for one in kept:
        segment = there.get(one["id"])
        rows.checked(segment.text if segment else None, one["print"], f"Segment {one['id']}, a summary,")
    return [there[item["id"]] for item in kept if item["id"] in there]


def _keep_attachments(attached: Sequence[PromptAttachment], _: AssembledPrompt) -> list[Kept]:
    """Attachments of the message, by row; `unseen`: mentioned but not shown to the model."""
    return [
        {"id": attachment.id, "print": _fingerprint(attachment.print_of), "unseen": attachment.is_unseen}
        for attachment in attached
    ]


def _restore_attachments(kept: Sequence[Kept], rows: _Rows) -> list[PromptAttachment]:
    found = load([rows.question.pk]) if kept and rows.question else {}
    files = attachments_without(found.get(rows.question.pk, ()) if rows.question else (), rows.left_out)
    there = {one.id: one for one in mark_unseen(files, [item["id"] for item in kept if item["unseen"]])}
    for one in kept:
        attachment = there.get(one["id"])
        rows.checked(attachment.print_of if attachment else None, one["print"], f"Attachment {one['id']}")
    return [there[item["id"]] for item in kept if item["id"] in there]


def _keep_message(text: str, prompt: AssembledPrompt) -> Kept:
    """Only a fingerprint of the user's own words, and the text around them as sent."""
    before, found, after = text.partition(prompt.inputs.question.message.text)
    return (
        {"print": _fingerprint(prompt.inputs.question.message.text), "before": before, "after": after}
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
"""Fields of `PromptContents` whose texts have rows of their own. Every other field is stored as sent."""


FIELDS: Final = tuple(one.name for one in fields(PromptContents))
AS_SENT: Final[Mapping[str, TypeAdapter[Any]]] = {
    name: TypeAdapter(kind) for name, kind in get_type_hints(PromptContents).items() if name not in KEEPERS
}
OPTION_TYPES: Final[Mapping[str, TypeAdapter[Any]]] = {
    name: TypeAdapter(kind) for name, kind in get_type_hints(RequestOptions).items()
}
"""Each field by its type, to JSON and back."""


# Fingerprints and runs -------------------------------------------------------------------------------------------


def _fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:PRINT_CHARS]


def _texts(turn: Turn) -> tuple[str, str]:
    """The turn's texts in a prompt: question with attachments, answer with tool lines."""
    attached = [attachment.print_of for attachment in turn.attachments]
    return "\n".join([*attached, turn.question.text]), "\n".join([*tool_lines(turn.answer), turn.answer.text])


def _pairs(prints: str) -> list[tuple[str, str]]:
    each = [prints[at : at + PRINT_CHARS] for at in range(0, len(prints), PRINT_CHARS)]
    return list(zip(each[::2], each[1::2], strict=True))


def _positions(lines: Sequence[str], pinned: Sequence[str]) -> list[int]:
    """Position of each line among the pinned ones; both are in the same order."""
    positions: list[int] = []
    for line in lines:
        positions.append(pinned.index(line, positions[-1] + 1 if positions else 0))
    return positions


def _to_runs(numbers: Sequence[int]) -> list[list[int]]:
    """Ascending numbers as runs: 1 2 3 7 → [1, 3], [7, 7]."""
    if not numbers:
        return []
    breaks = [(one, other) for one, other in pairwise(numbers) if other != one + 1]
    firsts = [numbers[0], *(other for _, other in breaks)]
    lasts = [*(one for one, _ in breaks), numbers[-1]]
    return [list(run) for run in zip(firsts, lasts, strict=True)]


def _from_runs(runs: Iterable[Sequence[int]]) -> list[int]:
    return [number for first, last in runs for number in range(first, last + 1)]


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
