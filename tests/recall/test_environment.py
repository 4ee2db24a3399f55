"""What an operator may set, and the error if a value is wrong."""

import os
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from recall.environment import Environment, former_keys, kept_secret_key, read_environment


@pytest.mark.parametrize(
    ("name", "value", "what_is_said"),
    [
        ("PORT", "eighty", "PORT: .*valid integer"),
        ("PORT", "70000", "PORT: .*less than or equal to 65535"),
        ("DEBUG", "perhaps", "DEBUG: .*valid boolean"),
        ("DATABASE_URL", "mysql://host/db", "DATABASE_URL: must start with postgresql://"),
        ("DATABASE_URL", "postgresql://host/db?colour=red", "DATABASE_URL: is not a valid"),
        ("REDIS_URL", "host:6379", "REDIS_URL: must start with redis://"),
        ("ANTHROPIC_BASE_URL", "localhost:11434", "ANTHROPIC_BASE_URL: must start with http://"),
        ("PUBLIC_URL", "chat.example.org", "PUBLIC_URL: must start with http://"),
        ("EMAIL_URL", "mail.example.org", "EMAIL_URL: must start with smtp://"),
        ("LIBRARIAN_ENGINE", "magic", "LIBRARIAN_ENGINE: .*'auto', 'model' or 'rules'"),
        ("CACHE_TTL", "2h", "CACHE_TTL: .*'5m' or '1h'"),
        ("DATABASE_POOL_SIZE", "0", "DATABASE_POOL_SIZE: .*greater than or equal to 2"),
        ("LOG_LEVEL", "LOUD", "LOG_LEVEL: "),
    ],
)
def test_a_wrong_value_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str, what_is_said: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured, match=f"^Invalid settings: {what_is_said}"):
        read_environment()


def test_every_wrong_value_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "eighty")
    monkeypatch.setenv("CACHE_TTL", "2h")
    with pytest.raises(ImproperlyConfigured, match=r"PORT: .*; CACHE_TTL: "):
        read_environment()


def test_an_empty_value_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "")
    assert read_environment().database_url is None


@pytest.mark.parametrize(
    ("given", "offline"),
    [
        ({}, True),
        ({"ANTHROPIC_API_KEY": "sk-1"}, False),
        ({"ANTHROPIC_BASE_URL": "http://localhost:11434"}, False),
        ({"ANTHROPIC_API_KEY": "sk-1", "ANTHROPIC_BASE_URL": "http://localhost:11434/"}, False),
    ],
)
def test_the_offline_server_answers_only_where_no_provider_is_named(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], offline: bool
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert read_environment().is_offline is offline


def test_an_address_loses_its_last_slash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://localhost:11434/")
    assert read_environment().anthropic_base_url == "http://localhost:11434"


def test_a_key_is_not_shown_when_the_environment_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-very-secret")
    assert "very-secret" not in repr(read_environment())


def test_the_example_file_names_every_variable_and_no_other() -> None:
    example = Path(__file__).resolve().parents[2] / ".env.example"
    lines = [line.lstrip("# ") for line in example.read_text().splitlines() if "=" in line and line.strip()]
    named = {line.partition("=")[0] for line in lines if line.partition("=")[0].isupper()}
    internal = {"OFFLINE_URL"}  # set by `up` for what it starts, and by the compose file
    assert named == {name.upper() for name in Environment.model_fields} - internal


def test_the_secret_key_is_made_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    key = kept_secret_key(tmp_path / "var")
    assert len(key) >= 50
    assert kept_secret_key(tmp_path / "var") == key
    assert (tmp_path / "var" / "secret_key").stat().st_mode & 0o077 == 0
    assert os.listdir(tmp_path / "var") == ["secret_key"]


def test_a_folder_that_cannot_be_written_gives_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "var").touch()  # a file is in the way: that stops root, too
    with pytest.raises(ImproperlyConfigured, match=r"^VAR_DIR: can't use"):
        kept_secret_key(tmp_path / "var")


def test_former_keys_are_given_with_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    assert former_keys(read_environment().secret_key_fallbacks) == []
    monkeypatch.setenv("SECRET_KEY_FALLBACKS", "the-last-one, the-one-before,")
    assert former_keys(read_environment().secret_key_fallbacks) == ["the-last-one", "the-one-before"]
