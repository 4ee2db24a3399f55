"""References such as `fact:12`, by which prompts, receipts and pages name memories."""

import re
from collections.abc import Iterable
from typing import Final

KINDS: Final = ("fact", "episode", "message", "segment", "chunk")
"""Kinds that retrieval returns; `chunk` is a passage of a document."""
_REF: Final = re.compile(rf"({'|'.join(KINDS)}):(\d{{1,18}})")


def ids_by_kind(refs: Iterable[str]) -> dict[str, list[int]]:
    """Kind → ids of the references that name something retrieval returns; other references are left out."""
    found: dict[str, list[int]] = {kind: [] for kind in KINDS}
    for match in filter(None, map(_REF.fullmatch, refs)):
        found[match[1]].append(int(match[2]))
    return found


def fact_ids(refs: Iterable[str]) -> list[int]:
    """The ids of those references that name facts."""
    return ids_by_kind(refs)["fact"]
