"""What stays of turns that leave the prompt: summaries by schema, their merging, and when the topic has shifted."""

from chat.compaction.summaries.engine import Engine, Summarised, SummaryFailed
from chat.compaction.summaries.merge import merge
from chat.compaction.summaries.rule_engine import RuleEngine
from chat.compaction.summaries.schema import DEFAULT_VERBOSITY, Exchange, Summary, Verbosity, render
from chat.compaction.summaries.select_engine import RULES, engine, summarise

__all__ = [
    "DEFAULT_VERBOSITY",
    "RULES",
    "Engine",
    "Exchange",
    "RuleEngine",
    "Summarised",
    "Summary",
    "SummaryFailed",
    "Verbosity",
    "engine",
    "merge",
    "render",
    "summarise",
]
