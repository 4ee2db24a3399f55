"""Every operation of the running server, tried with requests that schemathesis generates from the description.

No 5xx, nothing that isn't described, no word of Bob's for Alice. The examples are the same each time: the seed is
fixed.
"""

from typing import Any

import pytest
import schemathesis
from django.conf import settings
from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as hypothesis_settings
from schemathesis.checks import content_type_conformance, not_a_server_error
from schemathesis.specs.openapi.checks import (
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from accounts.api import keys
from accounts.api.scopes import SCOPES
from tests.api.rows import everything_of

SEED = 20_261_122
EXAMPLES = 4
TURNS = 1
"""Examples of each operation that starts a turn: each is answered by the offline server."""
BOBS = "bobs-xyzzy-secret"
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
]
LAST = ("DELETE", "forget", "delete", "end", "reject", "cancel")
"""Operations that remove rows come last, so that the others find some."""


@pytest.fixture
def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings.ENVIRONMENT, "api_rate_per_minute", 1_000_000)


def in_order(operations: list[Any]) -> list[Any]:
    return sorted(operations, key=lambda one: any(word in f"{one.method.upper()} {one.path}" for word in LAST))


def asked(operation: Any, headers: dict[str, str], rows: dict[str, Any]) -> int:
    """Try it a few times, every second time on existing rows; returns how often."""
    times = 0
    is_turn = "/turns" in operation.path and operation.method == "post"

    @seed(SEED)
    @hypothesis_settings(
        max_examples=TURNS if is_turn else EXAMPLES,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def ask(case: Any) -> None:
        nonlocal times
        times += 1
        if times % 2:
            known = {name: str(rows[name]) for name in case.path_parameters or {} if name in rows}
            case.path_parameters = {**(case.path_parameters or {}), **known}
        response = case.call(headers=headers, timeout=30)
        case.validate_response(response, checks=CHECKS, headers=headers)
        assert BOBS.encode() not in response.content, f"{case.method} {case.formatted_path} shows a row of Bob's"

    ask()
    return times


def test_the_server_does_as_it_is_described(unlimited: None, address: str, alice: Any, bob: Any) -> None:
    rows = everything_of(alice, "hers")
    everything_of(bob, BOBS)
    _, secret = keys.create_key(alice, "schemathesis", SCOPES)
    headers = {"Authorization": f"Bearer {secret}"}
    schema = schemathesis.openapi.from_url(f"{address}/api/v1/openapi.json", timeout=60)
    wrong: list[str] = []
    times = 0
    operations: list[Any] = [result.ok() for result in schema.get_all_operations()]  # type: ignore[union-attr]
    for operation in in_order(operations):
        try:
            times += asked(operation, headers, rows)
        except (AssertionError, schemathesis.errors.SchemathesisError, BaseExceptionGroup) as failure:
            wrong.append(f"{operation.method.upper()} {operation.path}: {failure}")
    assert not wrong, "\n\n".join(wrong)
    assert times > 2 * len(operations)
