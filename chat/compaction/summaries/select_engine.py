"""Which engine summarizes, and what happens when it fails? The model where there is one, and else the rules.

A segment is never left without a summary because a server was away: the rules need none.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from django.conf import settings

from chat.compaction.summaries.engine import SummaryEngine, SummaryFailed, SummaryResult
from chat.compaction.summaries.rule_engine import RuleEngine
from chat.compaction.summaries.schema import DEFAULT_VERBOSITY, Exchange, Verbosity
from recall.llm.client import get_capabilities

log = logging.getLogger(__name__)

RULES: Final = RuleEngine()


def choose_engine(rules: RuleEngine = RULES) -> SummaryEngine:
    """The librarian's model; or `rules`, where the operator says so or the server cannot follow a schema."""
    environment = settings.ENVIRONMENT
    if environment.librarian_engine == "rules" or settings.IS_OFFLINE:
        return rules
    if not get_capabilities(environment.librarian_model).structured_output:
        return rules
    from chat.compaction.summaries.model_engine import ModelEngine  # late: the SDK takes a second to load

    return ModelEngine(environment.librarian_model)


def summarize(
    turns: Sequence[Exchange],
    verbosity: Verbosity = DEFAULT_VERBOSITY,
    engine: SummaryEngine = RULES,
    fallback: RuleEngine = RULES,
) -> SummaryResult:
    """What of the turns stays, told by the engine, or by the fallback where the engine fails."""
    try:
        return engine.summarize(turns, verbosity)
    except SummaryFailed as failed:
        log.warning("%s could not summarize %s turns, so the rules do: %s", engine.version, len(turns), failed)
        told = fallback.summarize(turns, verbosity)
        return replace(told, usage=failed.usage, failure=str(failed))
