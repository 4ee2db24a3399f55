"""The final sweep for residue: every text, JSON and array column of every row of the user.

Columns come from the models, so that a new one can't be missed. Only the forgotten texts and words that occur nowhere
else are replaced, and never a value that code reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from memory.documents.tree import numbered
from memory.models import Document, PersonalIndex
from memory.models.paths import PathField
from recall.db.ownership import Owned
from recall.redaction import FORGOTTEN, Erasure

if TYPE_CHECKING:
    from accounts.models import User

READ_BY_CODE: Final = frozenset(
    {
        "accounts.ApiKey.digest", "accounts.ApiKey.prefix", "accounts.ApiKey.scopes", "accounts.ApiRate.holder",
        "accounts.IdempotentRequest.content_type", "accounts.IdempotentRequest.fingerprint",
        "accounts.IdempotentRequest.key",
        "budget.Receipt.model", "budget.Receipt.plan", "budget.Receipt.request_digest", "budget.Receipt.sections",
        "budget.Receipt.cut_rules",
        "budget.Receipt.rounds", "budget.Receipt.timings", "budget.Receipt.base_by_class", "budget.Receipt.prefix",
        "budget.Receipt.stop_reason", "budget.ProfileSnapshot.reason", "budget.BudgetPlan.preset",
        "budget.BudgetPlan.ceilings", "budget.UsageDay.model", "chat.Attachment.media_type",
        "chat.Compaction.reason", "chat.Compaction.engine",
        "chat.Conversation.model", "chat.Conversation.origin", "chat.ImportJob.origin", "memory.Consolidation.figures",
        "memory.Fact.extracted_by",
        "memory.Episode.extracted_by", "memory.KindPolicy.subject", "memory.LibrarianRun.trigger",
        "memory.LibrarianRun.engine", "memory.Upload.media_type", "memory.PersonalIndex.models_indexed",
        "memory.Forgetting.gone", "memory.Forgetting.to_rewrite",
    }
)  # fmt: skip
"""Columns in which a word is a name that the code knows. The forgotten texts themselves are looked for there, too."""
TORN: Final = 8
"""Bytes: a piece of a text may start and end within a character."""
NOT_BY_CHANCE: Final = 6
"""Bytes: any shorter word occurs by chance in an image or archive of 30 MB."""
BINARY_AT_ONCE: Final = 4
"""Files in memory."""
NAMED_FOLDERS: Final = frozenset({"chat.Project.path", "chat.Conversation.scope"})
"""Columns that name a folder of documents as it was typed: a name that goes becomes the same other one in them all."""
READ_BY_CODE_ANYWHERE: Final = frozenset({"embedded_by", "content_hash"})


def sweep(user: User, erasure: Erasure) -> int:
    """Take out what is left of it; in how many rows it was found."""
    found = sum(_sweep_model(user, model, erasure) for model in owned_models())
    found += _binary(user, erasure) + _paths(user, erasure) + _folders(user, erasure)
    return found + _common_words(user, erasure) + _admin_log(erasure)


def owned_models() -> Iterator[type[models.Model]]:
    """Every model with an owner: declared ones, and those that just have a `user`."""
    for model in apps.get_models():
        field = next((one for one in model._meta.concrete_fields if one.name == "user"), None)
        if issubclass(model, Owned) or (field is not None and model._meta.app_label in _OURS):
            yield model


_OURS: Final = frozenset({"accounts", "memory", "budget", "chat", "recall"})


def columns(model: type[models.Model]) -> list[models.Field[Any, Any]]:
    """Its columns that may contain the user's words."""
    return [field for field in model._meta.concrete_fields if _holds_words(field)]


def _holds_words(field: models.Field[Any, Any]) -> bool:
    if isinstance(field, models.GeneratedField) or field.choices or field.name in READ_BY_CODE_ANYWHERE:
        return False
    if _label(field) in NAMED_FOLDERS:
        return False
    if isinstance(field, ArrayField):
        return _holds_words(field.base_field)
    return isinstance(field, models.CharField | models.TextField | models.JSONField)


def _label(field: models.Field[Any, Any]) -> str:
    return f"{field.model._meta.label}.{field.name}"


def _sweep_model(user: User, model: type[models.Model], erasure: Erasure) -> int:
    fields = columns(model)
    ids: set[Any] = set()
    for pattern in erasure.hints() if fields else ():
        which = Q()
        for field in fields:
            which |= Q(**{f"{_as_text(field)}__iregex": pattern})
        ids |= set(_of(user, model, fields).filter(which).values_list("pk", flat=True))
    return sum(_sweep_row(row, fields, erasure) for row in model._base_manager.filter(pk__in=ids))


def _of(user: User, model: type[models.Model], fields: list[models.Field[Any, Any]]) -> models.QuerySet[Any]:
    """The user's rows; JSON and arrays can be searched as text."""
    written: dict[str, Any] = {
        _as_text(field): models.functions.Cast(field.name, models.TextField())
        for field in fields
        if _as_text(field) != field.name
    }
    rows: models.QuerySet[Any] = model._base_manager.filter(user=user.pk).alias(**written)
    return rows


def _as_text(field: models.Field[Any, Any]) -> str:
    return f"{field.name}_as_text" if isinstance(field, models.JSONField | ArrayField) else field.name


def _sweep_row(row: models.Model, fields: list[models.Field[Any, Any]], erasure: Erasure) -> int:
    changed = {}
    for field in fields:
        now = getattr(row, field.name)
        will_be = _cleaned(now, field, erasure)
        if will_be != now:
            changed[field.name] = will_be
    if changed.get("text") and hasattr(row, "made_of"):  # the bytes that the text was read from say it, too
        changed |= row.made_of(changed["text"])
    if changed:
        type(row)._base_manager.filter(pk=row.pk).update(**changed)
    return bool(changed)


def _cleaned(value: Any, field: models.Field[Any, Any], erasure: Erasure) -> Any:
    by_words = _label(field) not in READ_BY_CODE
    if isinstance(value, str):
        return _fitting(erasure.redact(value, words=by_words), field)
    if value is None or not by_words:
        return value
    if isinstance(field, ArrayField):
        return list(dict.fromkeys(erasure.redact(one) if isinstance(one, str) else one for one in value))
    return erasure.redact_json(value)


def _fitting(text: str, field: models.Field[Any, Any]) -> str:
    longest = getattr(field, "max_length", None)
    return text if longest is None else text[:longest]


# What is no text of a row of words -------------------------------------------------------------------------------


def _binary(user: User, erasure: Erasure) -> int:
    """Files that wait to be read, could not be, or were attached, and hold it in the open, go."""
    found = 0
    for model in owned_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, models.BinaryField) and (erasure.texts or erasure.words):
                rows = model._base_manager.filter(user=user.pk, **{f"{field.name}__isnull": False})
                contents = rows.values_list("pk", field.name).iterator(BINARY_AT_ONCE)
                holding = [pk for pk, content in contents if _says(bytes(content), erasure)]
                found += model._base_manager.filter(pk__in=holding).delete()[0]
    return found


def _says(content: bytes, erasure: Erasure) -> bool:
    text = content.decode("utf-8", "ignore")
    if "\x00" not in text and len(text.encode()) > len(content) - TORN:
        return erasure.redact(text) != text
    wanted = [one.lower().encode() for one in (*erasure.texts, *erasure.words)]
    small = content.lower()
    return any(one in small for one in wanted if len(one) >= NOT_BY_CHANCE)


def _paths(user: User, erasure: Erasure) -> int:
    """A path that says it: the last of its names becomes another."""
    found = 0
    for model in owned_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, PathField):
                rows = model._base_manager.filter(user=user.pk).values_list("pk", field.name)
                renamed = {pk: path for pk, path in rows if erasure.redact(path) != path}
                for pk, path in renamed.items():
                    model._base_manager.filter(pk=pk).update(**{field.name: _other_path(user, path, erasure)})
                found += len(renamed)
    return found


def _other_path(user: User, path: str, erasure: Erasure) -> str:
    taken = Document.objects.for_user(user)
    return next(one for one in numbered(_without(path, erasure)) if not taken.filter(path=one).exists())


def _without(path: str, erasure: Erasure) -> str:
    names = [erasure.redact(name).replace(FORGOTTEN, "forgotten") for name in path[1:].split("/")]
    return "/" + "/".join(names)


def _folders(user: User, erasure: Erasure) -> int:
    """A folder named after it: references to it change, as its documents do."""
    naming = [(one._base_manager.filter(user=user.pk), field.name) for one in owned_models()
              for field in one._meta.concrete_fields if _label(field) in NAMED_FOLDERS]  # fmt: skip
    named = {path for rows, name in naming for path in rows.exclude(**{name: ""}).values_list(name, flat=True)}
    found, taken = 0, set(named)
    for old in sorted(path for path in named if _without(path, erasure) != path):
        new = next(path for path in numbered(_without(old, erasure)) if path not in taken)
        taken.add(new)
        found += sum(rows.filter(**{name: old}).update(**{name: new}) for rows, name in naming)
    return found


def _common_words(user: User, erasure: Erasure) -> int:
    """Object keys too: a large collection's statistics are stored by word."""
    index = PersonalIndex.objects.for_user(user).first()
    if index is None:
        return 0
    pattern = erasure.words_pattern()
    kept = {
        word: rows
        for word, rows in index.common_words.items()
        if not (pattern and pattern.search(word)) and not any(one.startswith(word) for one in erasure.words)
    }
    return PersonalIndex.objects.filter(pk=index.pk).exclude(common_words=kept).update(common_words=kept)


def _admin_log(erasure: Erasure) -> int:
    """What staff did is named there by what the row said."""
    gone = Q(pk__in=[])
    for label, ids in (("fact", erasure.facts), ("episode", erasure.episodes), ("document", erasure.documents)):
        kind = ContentType.objects.get(app_label="memory", model=label)
        gone |= Q(content_type=kind, object_id__in=[str(pk) for pk in ids])
    changed = LogEntry.objects.filter(gone).update(object_repr=FORGOTTEN, change_message="")
    for entry in LogEntry.objects.exclude(object_repr=FORGOTTEN).iterator():
        if erasure.occurs_in(entry.object_repr) or erasure.occurs_in(entry.change_message):
            changed += LogEntry.objects.filter(pk=entry.pk).update(object_repr=FORGOTTEN, change_message="")
    return changed
