"""What stays of turns that leave the prompt: summaries by schema, their merging, and when the topic has shifted."""

from chat.summary.choosing import RULES, engine, summarise
from chat.summary.engines import Engine, Summarised, SummaryFailed
from chat.summary.merging import merge
from chat.summary.rules import RuleEngine
from chat.summary.schema import DEFAULT_VERBOSITY, Exchange, Summary, Verbosity, render

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
