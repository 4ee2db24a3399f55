"""Sweeps up the residue: every text, JSON and array column of every row of the user.

Columns come from the models, so that a new one can't be missed. Only the forgotten texts and the words that occur
nowhere else are replaced; a single word is never replaced in a value that code reads.
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
        "memory.Forgetting.gone", "memory.Forgetting.to_rewrite", "memory.ForgetList.key", "memory.Tombstone.digest",
    }
)  # fmt: skip
"""Columns with names that code uses: only whole forgotten texts are replaced there, not single words."""
TORN: Final = 8
"""Bytes at the edges of a piece, which may split a character."""
NOT_BY_CHANCE: Final = 6
"""Bytes: any shorter word occurs by chance in an image or archive of 30 MB."""
BINARY_AT_ONCE: Final = 4
"""Maximum files held in memory."""
NAMED_FOLDERS: Final = frozenset({"chat.Project.path", "chat.Conversation.scope"})
"""Columns with a folder's path as typed: a forgotten name is replaced by the same new name in all of them."""
READ_BY_CODE_ANYWHERE: Final = frozenset({"embedded_by", "content_hash"})


def sweep(user: User, erasure: Erasure) -> None:
    """Remove the residue."""
    for model in owned_models():
        _sweep_model(user, model, erasure)
    _sweep_binaries(user, erasure)
    _sweep_paths(user, erasure)
    _sweep_folders(user, erasure)
    _sweep_common_words(user, erasure)
    _sweep_admin_log(erasure)


def owned_models() -> Iterator[type[models.Model]]:
    """Every model whose rows belong to a user: `Owned` ones, and those with a `user` field."""
    for model in apps.get_models():
        field = next((field for field in model._meta.concrete_fields if field.name == "user"), None)
        if issubclass(model, Owned) or (field is not None and model._meta.app_label in _APPS):
            yield model


_APPS: Final = frozenset({"accounts", "memory", "budget", "chat", "recall"})


def columns(model: type[models.Model]) -> list[models.Field[Any, Any]]:
    """The model's columns that may contain the user's words."""
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


def _sweep_model(user: User, model: type[models.Model], erasure: Erasure) -> None:
    fields = columns(model)
    ids: set[Any] = set()
    for pattern in erasure.hints() if fields else ():
        which = Q()
        for field in fields:
            which |= Q(**{f"{_as_text(field)}__iregex": pattern})
        ids |= set(_own_rows(user, model, fields).filter(which).values_list("pk", flat=True))
    for row in model._base_manager.filter(pk__in=ids):
        _sweep_row(row, fields, erasure)


def _own_rows(user: User, model: type[models.Model], fields: list[models.Field[Any, Any]]) -> models.QuerySet[Any]:
    """The user's rows, with JSON and arrays also as text."""
    written: dict[str, Any] = {
        _as_text(field): models.functions.Cast(field.name, models.TextField())
        for field in fields
        if _as_text(field) != field.name
    }
    rows: models.QuerySet[Any] = model._base_manager.filter(user=user.pk).alias(**written)
    return rows


def _as_text(field: models.Field[Any, Any]) -> str:
    return f"{field.name}_as_text" if isinstance(field, models.JSONField | ArrayField) else field.name


def _sweep_row(row: models.Model, fields: list[models.Field[Any, Any]], erasure: Erasure) -> None:
    changed = {}
    for field in fields:
        value = getattr(row, field.name)
        redacted = _redact_value(value, field, erasure)
        if redacted != value:
            changed[field.name] = redacted
    if changed.get("text") and hasattr(row, "made_of"):  # the bytes that the text was extracted from contain it too
        changed |= row.made_of(changed["text"])
    if changed:
        type(row)._base_manager.filter(pk=row.pk).update(**changed)


def _redact_value(value: Any, field: models.Field[Any, Any], erasure: Erasure) -> Any:
    by_words = _label(field) not in READ_BY_CODE
    if isinstance(value, str):
        text = erasure.redact(value, words=by_words)
        longest = getattr(field, "max_length", None)
        return text if longest is None else text[:longest]
    if value is None or not by_words:
        return value
    if isinstance(field, ArrayField):
        return list(dict.fromkeys(erasure.redact(item) if isinstance(item, str) else item for item in value))
    return erasure.redact_json(value)


# Binaries, paths, keys and logs -----------------------------------------------------------------------------------


def _sweep_binaries(user: User, erasure: Erasure) -> None:
    """Delete waiting, failed or attached files that contain it uncompressed."""
    for model in owned_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, models.BinaryField) and (erasure.texts or erasure.words):
                rows = model._base_manager.filter(user=user.pk, **{f"{field.name}__isnull": False})
                contents = rows.values_list("pk", field.name).iterator(BINARY_AT_ONCE)
                holding = [pk for pk, content in contents if _contains(bytes(content), erasure)]
                model._base_manager.filter(pk__in=holding).delete()


def _contains(content: bytes, erasure: Erasure) -> bool:
    text = content.decode("utf-8", "ignore")
    if "\x00" not in text and len(text.encode()) > len(content) - TORN:
        return erasure.redact(text) != text
    wanted = [text.lower().encode() for text in (*erasure.texts, *erasure.words)]
    lowered = content.lower()
    return any(text in lowered for text in wanted if len(text) >= NOT_BY_CHANCE)


def _sweep_paths(user: User, erasure: Erasure) -> None:
    """Rename paths that contain it."""
    for model in owned_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, PathField):
                rows = model._base_manager.filter(user=user.pk).values_list("pk", field.name)
                renamed = {pk: path for pk, path in rows if erasure.redact(path) != path}
                for pk, path in renamed.items():
                    model._base_manager.filter(pk=pk).update(**{field.name: _free_path(user, path, erasure)})


def _free_path(user: User, path: str, erasure: Erasure) -> str:
    taken = Document.objects.for_user(user)
    return next(free for free in numbered(_redact_path(path, erasure)) if not taken.filter(path=free).exists())


def _redact_path(path: str, erasure: Erasure) -> str:
    names = [erasure.redact(name).replace(FORGOTTEN, "forgotten") for name in path[1:].split("/")]
    return "/" + "/".join(names)


def _sweep_folders(user: User, erasure: Erasure) -> None:
    """Rename folders that contain it, in every column that names one."""
    naming = [(model._base_manager.filter(user=user.pk), field.name) for model in owned_models()
              for field in model._meta.concrete_fields if _label(field) in NAMED_FOLDERS]  # fmt: skip
    named = {path for rows, name in naming for path in rows.exclude(**{name: ""}).values_list(name, flat=True)}
    taken = set(named)
    for old in sorted(path for path in named if _redact_path(path, erasure) != path):
        new = next(path for path in numbered(_redact_path(old, erasure)) if path not in taken)
        taken.add(new)
        for rows, name in naming:
            rows.filter(**{name: old}).update(**{name: new})


def _sweep_common_words(user: User, erasure: Erasure) -> None:
    """Redact the stored common words of a large collection: they are JSON keys, and redaction only covers values."""
    index = PersonalIndex.objects.for_user(user).first()
    if index is None:
        return
    pattern = erasure.words_pattern()
    kept = {
        word: rows
        for word, rows in index.common_words.items()
        if not (pattern and pattern.search(word)) and not any(forgotten.startswith(word) for forgotten in erasure.words)
    }
    PersonalIndex.objects.filter(pk=index.pk).exclude(common_words=kept).update(common_words=kept)


def _sweep_admin_log(erasure: Erasure) -> None:
    """Redact log entries of staff actions, which quote the row."""
    gone = Q(pk__in=[])
    for label, ids in (("fact", erasure.facts), ("episode", erasure.episodes), ("document", erasure.documents)):
        kind = ContentType.objects.get(app_label="memory", model=label)
        gone |= Q(content_type=kind, object_id__in=[str(pk) for pk in ids])
    LogEntry.objects.filter(gone).update(object_repr=FORGOTTEN, change_message="")
    for entry in LogEntry.objects.exclude(object_repr=FORGOTTEN).iterator():
        if erasure.occurs_in(entry.object_repr) or erasure.occurs_in(entry.change_message):
            LogEntry.objects.filter(pk=entry.pk).update(object_repr=FORGOTTEN, change_message="")
