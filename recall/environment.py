"""What an operator may choose, read from the environment and from `.env`, and checked at start.

An operator's choices (keys, addresses, models, sizes) stand here, one typed field each. A design choice (pruning
order, weights, thresholds) is a constant beside the code that obeys it, not a setting.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict
from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

BASE_DIR = Path(__file__).resolve().parent.parent
SCHEMES: dict[str, tuple[str, ...]] = {
    "anthropic_base_url": ("http://", "https://"),
    "offline_url": ("http://", "https://"),
    "public_url": ("http://", "https://"),
    "database_url": ("postgresql://", "postgres://"),
    "redis_url": ("redis://", "rediss://"),
    "email_url": ("smtp://", "smtps://"),  # STARTTLS, and TLS from the first byte
}
"""How each address may start."""

ENV_FILE = Path(os.environ.get("ENV_FILE", BASE_DIR / ".env"))


CAPABILITIES = frozenset({"caching", "structured_output", "thinking", "effort", "count_tokens", "images"})
"""What MODEL_CAPABILITIES may name."""


class Environment(BaseSettings):
    """Every environment variable Recall reads; a field's name in capitals is the variable's name."""

    model_config = SettingsConfigDict(env_file=ENV_FILE, env_ignore_empty=True, extra="ignore")

    # Where and how it is served
    secret_key: SecretStr | None = Field(None, description="Signs cookies and links; made and kept in VAR_DIR if unset")
    debug: bool = Field(False, description="Django's debug pages; never on a server others can reach")
    host: str = Field("127.0.0.1", description="Address the web server listens on")
    port: int = Field(8000, ge=1, le=65535, description="Port the web server listens on")
    allowed_hosts: str = Field("localhost,127.0.0.1,[::1]", description="Comma-separated host names to answer for")
    public_url: str | None = Field(None, description="Address seen from outside, such as https://chat.example.org")
    var_dir: Path = Field(BASE_DIR / "var", description="Folder for everything Recall writes outside the database")

    # The database, the queue, the channel layer
    database_url: str | None = Field(None, description="PostgreSQL to use; unset: the embedded server in VAR_DIR")
    redis_url: str | None = Field(None, description="Redis as broker and channel layer; unset: PostgreSQL for both")
    database_pool_size: int = Field(10, ge=2, description="Connections kept by one web process")

    # The model
    anthropic_api_key: SecretStr | None = Field(None, description="Key of the model provider")
    anthropic_base_url: str | None = Field(None, description="Any server that speaks the Messages API")
    chat_model: str = Field("claude-sonnet-5-5", description="Model that answers, unless a conversation names another")
    librarian_model: str = Field("claude-haiku-5-5", description="Model that reads conversations for the librarian")
    librarian_engine: Literal["auto", "model", "rules"] = Field(
        "auto", description="What extracts memories; auto: the model, or the rules with the offline server"
    )
    model_capabilities: str = Field(
        "",
        description="For a server without a Models API, comma-separated: caching, structured_output, thinking, effort, "
        "count_tokens, images",
    )
    model_context_window: int = Field(32_000, ge=4_000, description="Likewise: tokens of input and output together")
    model_max_output: int = Field(4_000, ge=256, description="Likewise: longest answer, in tokens")
    offline_port: int = Field(0, ge=0, le=65535, description="Port of the offline server; 0: any free one")
    offline_url: str | None = Field(None, description="A running offline server; `up` sets it for what it starts")
    cache_ttl: Literal["5m", "1h"] = Field("1h", description="Lifetime asked for prompt-cache entries")

    # Accounts and mail
    email_url: str | None = Field(None, description="SMTP server, smtp://user:password@host:port; unset: the console")
    default_from_email: str = Field("recall@localhost", description="Sender of Recall's mail")

    # Limits
    max_message_chars: int = Field(400_000, ge=1_000, description="Longest message a user may send, in characters")
    max_upload_mb: int = Field(20, ge=1, le=200, description="Largest file a user may upload, in megabytes")
    artifact_retention_days: int = Field(
        0, ge=0, description="Days after which kept tool results are removed; 0: never"
    )

    # How texts are found
    embedding_model: Literal["all-MiniLM-L6-v2-int8", "all-MiniLM-L6-v2"] = Field(
        "all-MiniLM-L6-v2-int8", description="Model of the index; after a change, rows are embedded anew by and by"
    )
    rag_chunk_size: int = Field(300, ge=40, le=2_000, description="Longest passage of a document, in base tokens")
    rag_chunk_overlap: int = Field(50, ge=0, description="Base tokens a passage repeats of the one before")
    story_chunk_size: int = Field(500, ge=40, le=2_000, description="Longest passage of a story, in base tokens")

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="Least severe log line shown")

    @field_validator(*SCHEMES)
    @classmethod
    def _address(cls, value: str | None, info: ValidationInfo) -> str | None:
        schemes = SCHEMES[str(info.field_name)]
        if value is not None and not value.startswith(schemes):
            raise ValueError(f"must start with {' or '.join(schemes)}")
        if value is not None and not value.startswith(("postgres", "redis")):
            _ = urlsplit(value).port  # raises for one that is none; a database's address may name several hosts
        return value.rstrip("/") if value else value

    @field_validator("rag_chunk_overlap")
    @classmethod
    def _less_than_half(cls, value: int, info: ValidationInfo) -> int:
        size = info.data.get("rag_chunk_size")  # absent when it is wrong itself
        if size is not None and value > size // 2:
            raise ValueError(f"must be at most half of RAG_CHUNK_SIZE, {size // 2}")
        return value

    @field_validator("model_capabilities")
    @classmethod
    def _known_capabilities(cls, value: str) -> str:
        unknown = {word.strip() for word in value.split(",") if word.strip()} - CAPABILITIES
        if unknown:
            raise ValueError(f"{', '.join(sorted(unknown))}: known are {', '.join(sorted(CAPABILITIES))}")
        return value

    @field_validator("database_url")
    @classmethod
    def _connection_address(cls, value: str | None) -> str | None:
        try:
            conninfo_to_dict(value or "")
        except ProgrammingError:
            raise ValueError(
                "is not an address that PostgreSQL's client understands"
            ) from None  # it may hold a password
        return value

    @property
    def is_offline(self) -> bool:
        """True when no model provider is configured, so that the offline server answers."""
        return self.anthropic_api_key is None and self.anthropic_base_url is None


def read_environment() -> Environment:
    """Read and check the environment.

    Raises:
        ImproperlyConfigured: one sentence that names each wrong variable and what is wrong with it.
    """
    try:
        return Environment()
    except ValidationError as error:
        wrong = [f"{str(e['loc'][0]).upper()}: {e['msg'].removeprefix('Value error, ')}" for e in error.errors()]
        raise ImproperlyConfigured(f"The environment is not right: {'; '.join(wrong)}.") from None


def kept_secret_key(var_dir: Path) -> str:
    """The signing key of an installation without SECRET_KEY: made once and kept, readable by its owner only.

    Raises:
        ImproperlyConfigured: one sentence, when `var_dir` cannot be written or read.
    """
    path = var_dir / "secret_key"
    try:
        if not path.exists():
            _make_secret_key(path)
        return path.read_text()
    except OSError as error:
        raise ImproperlyConfigured(
            f"VAR_DIR: {error.filename or var_dir} cannot be used ({error.strerror}); choose a folder to write to."
        ) from error


def _make_secret_key(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    own = path.with_name(f"{path.name}.{os.getpid()}")
    own.touch(mode=0o600)
    own.write_text(secrets.token_urlsafe(48))
    try:
        path.hardlink_to(own)  # whole or not at all
    except FileExistsError:
        pass  # another process made it a moment ago: its key is the one
    finally:
        own.unlink()
