"""The router of /api/v1/memory: the operations of every module, in the order of the reference page."""

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
    review,
    search,
)

router = Router()
for module in (
    search, facts, review, policies, boundaries, documents, files, episodes, consolidation, forgetting,
):  # fmt: skip
    router.add_router("", module.router)
