"""Every error below /api/v1 is returned as a problem, and reveals nothing private."""

import json
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client

from recall.http.request_limits import BodySizeLimitMiddleware
from tests.api.rows import AT

pytestmark = pytest.mark.django_db
JSON = "application/json"


@pytest.fixture
def hers(alice: Any, client: Client) -> Client:
    client.force_login(alice)
    return client


def told(response: Any, status: int) -> dict[str, Any]:
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/problem+json"
    problem: dict[str, Any] = response.json()
    assert problem["status"] == status
    assert problem["detail"].endswith((".", "…”.")) or problem.get("errors")
    assert {"type", "title", "status", "detail"} <= problem.keys()
    return problem


@pytest.mark.parametrize("path", ["", "/", "/nothing", "/memory/nothing", "/memory/facts/x", "/conversations/12"])
@pytest.mark.parametrize("method", ["get", "post", "delete"])
def test_an_address_that_is_not_there_is_a_problem(path: str, method: str, client: Client) -> None:
    told(getattr(client, method)(f"{AT}{path or '/'}"), 404)


def test_a_method_that_is_not_possible_is_a_problem_that_names_those_that_are(hers: Client) -> None:
    refused = hers.delete(f"{AT}/memory/facts")
    assert "GET" in told(refused, 405)["detail"]
    assert set(refused["Allow"].split(", ")) == {"GET", "POST"}
    told(hers.get(f"{AT}/turns"), 405)


@pytest.mark.parametrize("body", ["{", "nonsense", '"' + "x" * 100, "[" * 100_000])
def test_what_is_no_json_is_a_problem(body: str, hers: Client) -> None:
    told(hers.post(f"{AT}/memory/facts", body, content_type=JSON), 400)


@pytest.mark.parametrize("body", ["null", "[]", "12", '{"statement": 3}', '{"statement": ""}', "{}"])
def test_json_that_is_not_as_described_is_a_problem_that_names_the_place(body: str, hers: Client) -> None:
    problem = told(hers.post(f"{AT}/memory/facts", body, content_type=JSON), 422)
    assert problem["errors"][0]["where"].startswith("body")
    assert problem["type"].endswith("#not-valid")


@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b"])
def test_text_that_cannot_be_stored_is_refused_wherever_it_stands(text: str, hers: Client) -> None:
    told(hers.post(f"{AT}/memory/facts", json.dumps({"statement": text}), content_type=JSON), 422)
    told(hers.post(f"{AT}/memory/facts", json.dumps({text: [text]}), content_type=JSON), 422)


def test_a_query_with_nul_is_refused(hers: Client) -> None:
    told(hers.get(f"{AT}/memory/facts?q=%00"), 422)


def test_another_type_of_body_is_refused(hers: Client) -> None:
    refused = hers.post(f"{AT}/memory/facts", "statement=x", content_type="application/x-www-form-urlencoded")
    told(refused, 415)
    assert refused["Accept"] == JSON
    assert hers.post(f"{AT}/memory/uploads", "{}", content_type=JSON).status_code == 415


def test_a_body_beyond_what_is_taken_is_refused(hers: Client, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000
    told(hers.post(f"{AT}/memory/facts", json.dumps({"statement": "x" * 2_000}), content_type=JSON), 413)


async def test_a_request_beyond_what_is_taken_is_refused_at_the_door() -> None:
    sent: list[Any] = []

    async def send(event: Any) -> None:
        sent.append(event)

    async def never(*_: Any) -> None:
        raise AssertionError

    scope = {"type": "http", "path": f"{AT}/memory/uploads", "headers": [(b"content-length", b"3000000")]}
    await BodySizeLimitMiddleware(never, 2_000_000)(scope, never, send)  # type: ignore[arg-type]
    assert sent[0]["status"] == 413
    assert (b"content-type", b"application/problem+json") in sent[0]["headers"]
    assert json.loads(sent[1]["body"])["status"] == 413


def test_a_multipart_body_that_is_cut_off_is_a_problem(hers: Client) -> None:
    told(hers.post(f"{AT}/memory/uploads", b"--x", content_type="multipart/form-data"), 400)


def test_what_nobody_expected_is_a_problem_without_a_word_of_it(
    hers: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("the secret of Alice")

    monkeypatch.setattr("memory.api.search.profile_lines", broken)
    problem = told(hers.get(f"{AT}/memory/profile"), 500)
    assert "secret" not in str(problem)
    assert any(record.exc_info for record in caplog.records), "it is in the log"


def test_a_database_that_is_away_is_told_with_when_to_come_again(hers: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: Any) -> None:
        raise OperationalError("connection to server at 10.0.0.7 failed")

    monkeypatch.setattr("memory.api.search.profile_lines", away)
    refused = hers.get(f"{AT}/memory/profile")
    assert "10.0.0.7" not in str(told(refused, 503))
    assert refused["Retry-After"] == "2"
