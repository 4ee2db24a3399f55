"""What stays of turns that leave the prompt: summaries by schema, their merging, and when the topic has shifted."""

from chat.compaction.summaries.engine import SummaryEngine, SummaryFailed, SummaryResult
from chat.compaction.summaries.merge import merge
from chat.compaction.summaries.rule_engine import RuleEngine
from chat.compaction.summaries.schema import DEFAULT_VERBOSITY, Exchange, Summary, Verbosity, render
from chat.compaction.summaries.select_engine import RULES, choose_engine, summarise

__all__ = [
    "DEFAULT_VERBOSITY",
    "RULES",
    "Exchange",
    "RuleEngine",
    "Summary",
    "SummaryEngine",
    "SummaryFailed",
    "SummaryResult",
    "Verbosity",
    "choose_engine",
    "merge",
    "render",
    "summarise",
]
