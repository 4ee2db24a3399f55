"""Memory's routes of the API, below /api/v1/memory: a module for each resource, thin. Parse, call, and answer."""

from __future__ import annotations

from ninja import Router

from memory.api import (
    boundaries,
    consolidation,
    documents,
    episodes,
    facts,
    files,
    forgetting,
    policies,
    profile,
    review,
    search,
)

router = Router()
for _module in (
    search,
    facts,
    review,
    policies,
    boundaries,
    profile,
    documents,
    files,
    episodes,
    consolidation,
    forgetting,
):
    router.add_router("", _module.router)
