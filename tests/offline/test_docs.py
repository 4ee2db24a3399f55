"""docs/offline.md is accurate: its tables name what exists, and its example runs."""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

from offline.app import app
from offline.faults import DISTURBANCES, ERRORS, STOP_REASONS
from offline.script import KEYS
from tests.offline.requests import mark, request, text, user

PAGE = (Path(__file__).parents[2] / "docs" / "offline.md").read_text()


def section(heading: str) -> str:
    return PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]


def first_column(heading: str) -> list[str]:
    return re.findall(r"^\| `([^`]+)`", section(heading), re.MULTILINE)


def test_every_fault_is_described_and_no_other() -> None:
    assert set(first_column("Faults")) == ERRORS.keys() | DISTURBANCES
    assert all(f"`{reason}`" in section("Faults") for reason in STOP_REASONS)


def test_every_call_is_described_and_no_other() -> None:
    described = {call.split(" ")[1] for call in first_column("Protocol")}
    described |= set(re.findall(r"(?<!\w)/offline/\w+", PAGE))
    assert described == {getattr(route, "path", "") for route in app.routes}


def test_every_key_of_a_scripted_reply_is_described() -> None:
    assert all(f'"{key}"' in section("Scripted replies") for key in KEYS)


def test_what_the_map_names_is_there() -> None:
    named = re.findall(r"`offline/([\w/]+)\.py`(?:: ((?:`\w+`(?:, )?)+))?", section("Code"))
    assert len(named) >= 8
    for module_name, attributes in named:
        module = import_module(f"offline.{module_name.replace('/', '.')}")
        for attribute in re.findall(r"\w+", attributes):
            assert hasattr(module, attribute), f"{module_name}.{attribute}"


def test_the_example_of_the_cache_runs() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {"clock": lambda: 0.0, "body": request(user(text("word " * 600, **mark()), "q"))}
    for module in ("cache", "prompt", "models"):
        names |= vars(import_module(f"offline.protocol.{module}"))
    exec(example, names)
    assert names["booking"].usage.written_5m > 600


def test_the_settings_are_described() -> None:
    used = {name for path in Path("offline").rglob("*.py") for name in re.findall(r"OFFLINE_[A-Z_]+", path.read_text())}
    assert used == set(re.findall(r"OFFLINE_[A-Z_]+", PAGE))
