"""Chooses the summary engine: the model if there is one, else the rules, which also replace a failing model."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from django.conf import settings

from chat.compaction.summaries.engine import SummaryEngine, SummaryFailedError, SummaryResult
from chat.compaction.summaries.rule_engine import RuleEngine
from chat.compaction.summaries.schema import DEFAULT_VERBOSITY, Exchange, Verbosity
from recall.llm.client import get_capabilities

log = logging.getLogger(__name__)

RULES: Final = RuleEngine()


def choose_engine(rules: RuleEngine = RULES) -> SummaryEngine:
    """The librarian's model; or `rules`, if configured or the server can't follow a schema."""
    environment = settings.ENVIRONMENT
    if environment.librarian_engine == "rules" or settings.IS_OFFLINE:
        return rules
    if not get_capabilities(environment.librarian_model).structured_output:
        return rules
    from chat.compaction.summaries.model_engine import ModelEngine  # imported late: the SDK takes a second to load

    return ModelEngine(environment.librarian_model)


def summarize(
    turns: Sequence[Exchange],
    verbosity: Verbosity = DEFAULT_VERBOSITY,
    engine: SummaryEngine = RULES,
    fallback: RuleEngine = RULES,
) -> SummaryResult:
    """Summarize with the engine, or with the fallback if it fails."""
    try:
        return engine.summarize(turns, verbosity)
    except SummaryFailedError as error:
        log.warning("%s failed to summarize %s turns; the rules do: %s", engine.version, len(turns), error)
        result = fallback.summarize(turns, verbosity)
        return replace(result, usage=error.usage, failure=str(error))
