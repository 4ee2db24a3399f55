"""Settings: the page, `Environment`, `.env.example` and the code that reads them agree; all source knobs are listed."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from recall.environment import Environment, read_environment

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("recall", "accounts", "memory", "budget", "chat")
PAGE = (ROOT / "docs" / "settings.md").read_text()
SOURCES = (ROOT / "docs" / "sources.md").read_text()
ROW = re.compile(r"^\| `([A-Z][A-Z0-9_]+)` \| (?:`([^`]*)` )?\| (.+) \|$", re.MULTILINE)
ROWS = {name.lower(): (default, text) for name, default, text in ROW.findall(PAGE)}
FIELDS = Environment.model_fields

IN_THE_SEEDS = (
    # 000
    *("Top-K", "Similarity threshold", "Recency boost", "Importance boost", "totalTokens", "reservedForOutput"),
    *("systemPrompt", "memories", "history", "taskState", "first 2", "last 3", "News value", "verbosity"),
    # 001
    *("top_k", "50% of context window", "original_tokens", "limit: 4"),
    # 002
    *("20 turns", "keep last 10", "top_k_episodes", "confidence >= 0.4", "importance >= 0.2", "importance >= 0.5"),
    # 003, “Tuning knobs”
    *("EMBEDDINGS_DEVICE", "RAG_CHUNK_SIZE", "RAG_CHUNK_OVERLAP", "RAG_TOP_K_MAX", "RAG_SIMILARITY_THRESHOLD"),
    *("RAG_RE_RANK_TOP_N", "RAG_FINAL_TOP_K", "RAG_PER_TURN_MEMORY_BUDGET_TOKENS", "CONVO_SUMMARY_EVERY_N_MESSAGES"),
    *("CONVO_SUMMARY_MAX_TOKENS", "MEMORY_DEBUG", "RAG_DEBUG", "SEARCH_DEBUG"),
    # 004, “Configuration Reference”, and the figures of its formulas
    *("memoryDir", "projectName", "maxContextTokens", "workingMemoryTokens", "systemPromptTokens", "chunkSize"),
    *("maxRecentMessages", "shortTermRetentionTurns", "consolidationThresholdDays", "maxEpisodicMemories"),
    *("retrievalTopK", "relevanceThreshold", "recencyWeight", "importanceWeight", "maxChunks", "halfLifeDays"),
    *("semantic", "keyword", "recency", "importance", "access", "effectiveScore", "accessCount", "Significance"),
)


def modules(mention: str) -> Iterator[ast.Module]:
    """The modules whose text has this word: parsing all of them takes seconds."""
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            if path != ROOT / "recall" / "environment.py" and mention in (text := path.read_text()):
                yield ast.parse(text)


@pytest.fixture(scope="module")
def constants() -> dict[str, list[object]]:
    """Name of each setting that replaces a constant → the constants; None: not a literal."""
    found: dict[str, list[object]] = {}
    for module in modules("setting("):
        for node in ast.walk(module):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setting":
                name, constant = node.args
                assert isinstance(name, ast.Constant)
                value = constant.value if isinstance(constant, ast.Constant) else None
                found.setdefault(str(name.value), []).append(value)
    return found


def read_by_name() -> set[str]:
    """Fields that code reads as `settings.ENVIRONMENT.field`, or through another name of `ENVIRONMENT`."""
    found: set[str] = set()
    for module in modules("ENVIRONMENT"):
        nodes = list(ast.walk(module))
        names = {"ENVIRONMENT"} | {
            target.id
            for node in nodes
            if isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Attribute)
            and node.value.attr == "ENVIRONMENT"
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in nodes:
            if isinstance(node, ast.Attribute):
                of = node.value
                known = of.attr if isinstance(of, ast.Attribute) else of.id if isinstance(of, ast.Name) else ""
                found |= {node.attr} if known in names else set()
    return found


def as_written(value: object) -> str:
    if isinstance(value, Path):
        return value.name
    return str(value).lower() if isinstance(value, bool) else str(value)


def example() -> dict[str, str]:
    lines = [line.lstrip("# ") for line in (ROOT / ".env.example").read_text().splitlines()]
    pairs = [line.partition("=") for line in lines if re.match("[A-Z_]+=", line)]
    return {name.lower(): value for name, _, value in pairs}


def test_every_setting_is_read_by_some_code(constants: dict[str, list[object]]) -> None:
    assert set(FIELDS) - read_by_name() - set(constants) == set()


def test_every_constant_that_asks_for_a_setting_names_one_that_is_unset_by_itself(
    constants: dict[str, list[object]],
) -> None:
    assert {name for name in constants if name not in FIELDS or FIELDS[name].default is not None} == set()


def test_the_page_lists_every_setting_and_no_other() -> None:
    assert set(ROWS) == set(FIELDS)


def test_the_page_describes_each_setting_as_the_code_does() -> None:
    assert [name for name in FIELDS if not ROWS[name][1].startswith(str(FIELDS[name].description))] == []


def test_no_setting_stands_on_the_page_twice() -> None:
    names = [name for name, *_ in ROW.findall(PAGE)]
    assert len(names) == len(set(names))


def test_each_default_on_the_page_is_the_constant_beside_the_code(constants: dict[str, list[object]]) -> None:
    for name, (written, _) in ROWS.items():
        if FIELDS[name].default is not None:
            assert written == as_written(FIELDS[name].default), name
        elif name in constants and None not in constants[name]:
            assert written in map(as_written, constants[name]), name
        else:
            assert written == "", f"{name}: what holds depends on the plan"


def test_the_example_file_shows_each_default(constants: dict[str, list[object]]) -> None:
    shown = example()
    for name, found in constants.items():
        literal = [as_written(constant) for constant in found if constant is not None]
        assert shown[name] in literal or not literal, name


def test_the_plan_of_the_example_file_is_the_standard_one() -> None:
    from budget.planning.plan import STANDARD, Section

    assert {
        name: int(value) for name, value in example().items() if name.startswith("budget_") and value.isdigit()
    } == {
        "budget_total_tokens": STANDARD.total,
        "budget_output_tokens": STANDARD.output_reserve,
        "budget_system_tokens": STANDARD.ceilings[Section.SYSTEM_PROMPT],
        "budget_profile_tokens": STANDARD.ceilings[Section.PROFILE],
        "budget_history_tokens": STANDARD.ceilings[Section.HISTORY],
        "budget_memory_tokens": STANDARD.ceilings[Section.MEMORIES],
        "budget_task_tokens": STANDARD.ceilings[Section.TASK],
    }


def test_each_knob_of_a_seed_is_on_the_page() -> None:
    assert [knob for knob in IN_THE_SEEDS if knob not in SOURCES] == []


def test_each_environment_variable_of_a_seed_is_a_setting() -> None:
    variables = {knob.lower() for knob in IN_THE_SEEDS if re.fullmatch("[A-Z0-9]+(?:_[A-Z0-9]+)+", knob)}
    assert len(variables) == 13
    assert variables - set(FIELDS) == set()


SHOWN = """
from datetime import timedelta
import django; django.setup()
from budget.planning.history_cut import LAST_TURNS
from budget.planning.plan import DEFAULT_PLAN, PLANS, Section
from chat.compaction.window import KEPT_TURNS
from chat.prompt.user_context import relationship_stage
from chat.compaction.summaries.schema import DEFAULT_VERBOSITY
from chat.compaction.triggers import VERBATIM_TURNS, verbatim_turns
from memory.retrieval.decay import HALF_LIFE
from memory.librarian.decision import SURE_CONFIDENCE as SURE
from memory.retrieval.ranking import CALIBRATIONS, DEFAULT_PROFILE, STRONG, TOP_K
from memory.retrieval.candidates import PASSAGE_LIMIT
print(TOP_K, STRONG, PASSAGE_LIMIT, {one.floor for one in CALIBRATIONS.values()}, DEFAULT_PROFILE.name)
print(HALF_LIFE.days, SURE, LAST_TURNS, VERBATIM_TURNS, KEPT_TURNS, DEFAULT_VERBOSITY.limit, end=" ")
print(relationship_stage(4, timedelta(days=9), 9))
print(DEFAULT_PLAN.name, DEFAULT_PLAN.total, DEFAULT_PLAN.ceilings[Section.HISTORY], PLANS["small"] is DEFAULT_PLAN)
print(verbatim_turns(10_000), verbatim_turns(58_800))
"""
CHOSEN = {
    "RAG_FINAL_TOP_K": "3",
    "RAG_RELEVANCE_THRESHOLD": "0.3",
    "RAG_RE_RANK_TOP_N": "20",
    "RAG_SIMILARITY_THRESHOLD": "0.7",
    "RAG_RANKING": "seed",
    "DECAY_HALF_LIFE_DAYS": "10",
    "LIBRARIAN_SURE_CONFIDENCE": "0.9",
    "HISTORY_LAST_TURNS": "4",
    "COMPACT_AFTER_TURNS": "6",
    "COMPACT_KEEP_TURNS": "3",
    "SUMMARY_VERBOSITY": "brief",
    "RELATIONSHIP_STAGES": "3,4,9",
    "BUDGET_PLAN": "small",
    "BUDGET_TOTAL_TOKENS": "9000",
    "BUDGET_HISTORY_TOKENS": "3500",
}


def started_with(chosen: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """The output of a process started with this environment."""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "recall.settings", "ENV_FILE": os.devnull, **chosen}
    return subprocess.run(
        [sys.executable, "-c", SHOWN], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60
    )


def test_what_an_operator_sets_takes_the_place_of_the_constants() -> None:
    told = started_with(CHOSEN)
    assert told.stdout.splitlines() == [
        "3 0.3 20 {0.7} seed",
        "10 0.9 4 6 3 150 COMFORTABLE",
        "small 9000 3500 True",
        "6 17",
    ], told.stderr


def test_summaries_by_messages_come_every_half_as_many_turns_in_every_plan() -> None:
    told = started_with({"CONVO_SUMMARY_EVERY_N_MESSAGES": "12", "CONVO_SUMMARY_MAX_TOKENS": "200"}).stdout.split()
    assert told[-2:] == ["16", "16"], "ten stay, six are compacted"
    assert "200" in told


def test_sizes_that_do_not_add_up_are_refused_at_the_start() -> None:
    told = started_with({"BUDGET_HISTORY_TOKENS": "39000"})
    assert told.returncode
    assert "add up to" in told.stderr


@pytest.mark.parametrize("stages", ["5", "5,2,9", "a,b,c", "1,1,1"])
def test_relationship_stages_are_three_rising_numbers(stages: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELATIONSHIP_STAGES", stages)
    with pytest.raises(ImproperlyConfigured, match="RELATIONSHIP_STAGES: must be three rising numbers"):
        read_environment()
