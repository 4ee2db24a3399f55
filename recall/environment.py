"""Settings of an installation, read from the environment and `.env`, and checked at start.

An operator's choices (keys, addresses, models, sizes) are typed fields here. A design choice (weights, thresholds,
counts) is a constant next to its code; if it can be tuned, it's written `setting("name", 5)`, and the field of that
name replaces it when set.
"""

import os
import secrets
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict
from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

BASE_DIR = Path(__file__).resolve().parent.parent
GRAPHS: Final = ("model.onnx", "onnx/model.onnx")
"""Where published embedding models keep their graph."""
TOKENIZER: Final = "tokenizer.json"
SCHEMES: dict[str, tuple[str, ...]] = {
    "anthropic_base_url": ("http://", "https://"),
    "offline_url": ("http://", "https://"),
    "public_url": ("http://", "https://"),
    "database_url": ("postgresql://", "postgres://"),
    "database_owner_url": ("postgresql://", "postgres://"),
    "redis_url": ("redis://", "rediss://"),
    "web_search_url": ("http://", "https://"),
    "email_url": ("smtp://", "smtps://"),  # STARTTLS, and TLS from the first byte
}
"""Allowed schemes of each address."""

ENV_FILE = Path(os.environ.get("ENV_FILE", BASE_DIR / ".env"))


CAPABILITIES = frozenset({"caching", "structured_output", "thinking", "effort", "count_tokens", "images", "web_search"})
"""Values of MODEL_CAPABILITIES."""


class Environment(BaseSettings):
    """Every environment variable Recall reads; a field's name in capitals is the variable's name."""

    model_config = SettingsConfigDict(env_file=ENV_FILE, env_ignore_empty=True, extra="ignore")

    # Where and how it is served
    secret_key: SecretStr | None = Field(None, description="Signs cookies and links; made and kept in VAR_DIR if unset")
    secret_key_fallbacks: SecretStr | None = Field(
        None, description="Old keys, comma-separated: what they signed or encrypted can still be read"
    )
    debug: bool = Field(False, description="Django's debug pages; never on a server others can reach")
    host: str = Field("127.0.0.1", description="Address the web server listens on")
    port: int = Field(8000, ge=1, le=65535, description="Port the web server listens on")
    allowed_hosts: str = Field("localhost,127.0.0.1,[::1]", description="Comma-separated host names to answer for")
    public_url: str | None = Field(None, description="Address seen from outside, such as https://chat.example.org")
    var_dir: Path = Field(BASE_DIR / "var", description="Folder for everything Recall writes outside the database")

    # The database, the queue, events between processes
    database_url: str | None = Field(None, description="PostgreSQL to use; unset: the embedded server in VAR_DIR")
    database_owner_url: str | None = Field(
        None, description="The same database as the owner of its tables; unset: DATABASE_URL is their owner's"
    )
    redis_url: str | None = Field(None, description="Redis for the queue and for events; unset: PostgreSQL for both")
    database_pool_size: int = Field(10, ge=2, description="Connections one process may keep")

    drain_seconds: int = Field(
        10, ge=0, le=600, description="Seconds in which running answers may finish when a web process is stopped"
    )

    # The model
    anthropic_api_key: SecretStr | None = Field(None, description="Key of the model provider")
    anthropic_base_url: str | None = Field(None, description="Any server that speaks the Messages API")
    chat_model: str = Field("claude-sonnet-5-5", description="Model that answers, unless a conversation uses another")
    librarian_model: str = Field("claude-haiku-5-5", description="Model that reads conversations for the librarian")
    librarian_engine: Literal["auto", "model", "rules"] = Field(
        "auto", description="What extracts memories; auto: the model, or rules with the offline server"
    )
    model_capabilities: str = Field(
        "",
        description="For a server without a Models API, comma-separated: caching, structured_output, thinking, effort, "
        "count_tokens, images, web_search",
    )
    model_context_window: int = Field(
        32_000, ge=4_000, description="For such a server: tokens of input and output together"
    )
    model_max_output: int = Field(4_000, ge=256, description="For such a server: longest answer, in tokens")
    offline_port: int = Field(0, ge=0, le=65535, description="Port of the offline server; 0: any free one")
    offline_url: str | None = Field(None, description="A running offline server; `up` sets it for what it starts")
    cache_ttl: Literal["5m", "1h"] = Field("1h", description="Requested lifetime of prompt-cache entries")

    # The web
    web_search: Literal["off", "searxng", "provider"] = Field(
        "off", description="Web search: off, the SearXNG server at WEB_SEARCH_URL, or the model's provider"
    )
    web_search_url: str | None = Field(
        None, validate_default=True, description="SearXNG with its JSON format enabled, such as http://localhost:8888"
    )

    # Accounts and mail
    sign_up: Literal["open", "first", "closed"] = Field(
        "open", description="Who can sign up: anyone, only the first user, or no one"
    )
    email_url: str | None = Field(None, description="SMTP server, smtp://user:password@host:port; unset: the log")
    default_from_email: str = Field("recall@localhost", description="Sender of Recall's mail")

    # Limits
    max_message_chars: int = Field(400_000, ge=1_000, description="Longest message a user can send, in characters")
    max_turns: int | None = Field(
        None, ge=1, description="Answers that one web process writes at once; more wait in line, fairly by person"
    )
    api_rate_per_minute: int = Field(
        600, ge=1, description="Requests a minute of one API key, or of one user's sessions"
    )
    max_upload_mb: int = Field(20, ge=1, le=200, description="Largest file a user can upload, in megabytes")
    max_import_mb: int = Field(
        1_000, ge=1, le=10_000, description="Largest export or archive a user can import, in megabytes"
    )
    rag_per_turn_memory_budget_tokens: int | None = Field(
        None, ge=0, description="Maximum tokens of recalled memories in a prompt, in every plan; unset: the plan's"
    )

    # Retention: chat/conversations/retention.py lists what is removed
    message_retention_days: int = Field(
        0, ge=0, le=36_500, description="Days without activity after which a conversation is deleted; 0: never"
    )
    receipt_retention_days: int = Field(
        0, ge=0, le=36_500, description="Days after which a receipt loses its words and keeps its figures; 0: never"
    )
    cut_candidate_retention_days: int = Field(
        90, ge=0, le=36_500, description="Days after which a receipt no longer lists what was cut; 0: never"
    )
    artifact_retention_days: int = Field(
        0, ge=0, le=36_500, description="Days after which stored tool results are deleted; 0: never"
    )

    # Backup
    backup_dir: Path | None = Field(None, description="Folder a worker writes a backup into every night; unset: none")
    backup_key: SecretStr | None = Field(None, description="Encrypts backups; without it they can't be restored")
    backup_keep: int = Field(14, ge=1, description="Backups that are kept in a folder; older ones are removed")

    # Index
    embedding_model: Literal["all-MiniLM-L6-v2-int8", "all-MiniLM-L6-v2"] = Field(
        "all-MiniLM-L6-v2-int8", description="Embedding model; changing it re-embeds existing data in the background"
    )
    embedding_folder: Path | None = Field(
        None,
        description="Folder of another model with 384 dimensions to use instead, with model.onnx and tokenizer.json",
    )
    reranker_folder: Path | None = Field(
        None, description="Folder of a cross-encoder that reads the best 20 memories once more; unset: none does"
    )
    rag_chunk_size: int = Field(300, ge=40, le=2_000, description="Longest passage of a document, in base tokens")
    rag_chunk_overlap: int = Field(50, ge=0, description="Base tokens a passage repeats from the one before")
    story_chunk_size: int = Field(500, ge=40, le=2_000, description="Longest passage of a story, in base tokens")

    embeddings_device: Literal["cpu", "cuda"] | None = Field(
        None, description="Where vectors are computed; cuda needs the onnxruntime-gpu package"
    )

    # Tuning: if unset, the constant next to the code applies (docs/settings.md lists it with its reason)

    # How memories are recalled
    rag_final_top_k: int | None = Field(None, ge=0, le=50, description="Maximum memories recalled for a prompt")
    rag_top_k_max: int | None = Field(None, ge=1, le=50, description="Maximum results of a search by the model")
    rag_re_rank_top_n: int | None = Field(None, ge=5, le=1_000, description="Candidate passages that are reranked")
    rag_similarity_threshold: float | None = Field(
        None, ge=0, le=1, description="Minimum cosine at which meaning alone recalls a statement"
    )
    rag_relevance_threshold: float | None = Field(
        None, ge=0, le=1, description="Minimum relevance at which passages are recalled at all"
    )
    rag_ranking: Literal["measured", "seed"] | None = Field(None, description="Weights that rank memories")
    rag_weight_semantic: float | None = Field(None, ge=0, description="With RAG_RANKING=seed: weight of meaning")
    rag_weight_keyword: float | None = Field(None, ge=0, description="With RAG_RANKING=seed: weight of words")
    rag_weight_recency: float | None = Field(None, ge=0, description="With RAG_RANKING=seed: weight of recency")
    rag_weight_importance: float | None = Field(None, ge=0, description="With RAG_RANKING=seed: weight of importance")
    rag_weight_access: float | None = Field(None, ge=0, description="With RAG_RANKING=seed: weight of past use")
    rag_recent_days: float | None = Field(None, ge=0, description="Days for which a memory counts as recent")
    rag_recent_boost: float | None = Field(None, ge=0, description="Factor on the score of a recent memory")
    rag_importance_boost: float | None = Field(
        None, ge=0, description="Score gain of importance 1 over importance 0, as a share"
    )
    profile_min_importance: float | None = Field(
        None, ge=0, le=1, description="Minimum importance of keyed facts that are in every prompt"
    )

    # Librarian and decay
    librarian_every_turns: int | None = Field(
        None, ge=1, description="Turns after which the librarian reads an ongoing conversation"
    )
    session_idle_minutes: int | None = Field(
        None, ge=1, description="Idle minutes after which a conversation is paused and read"
    )
    librarian_min_confidence: float | None = Field(
        None, ge=0, le=1, description="Confidence below which a proposed fact is dropped"
    )
    librarian_min_importance: float | None = Field(
        None, ge=0, le=1, description="Importance below which a proposed fact or episode is dropped"
    )
    librarian_sure_confidence: float | None = Field(
        None, ge=0, le=1, description="Minimum confidence to save a fact automatically"
    )
    librarian_same_meaning: float | None = Field(
        None, ge=0, le=1, description="Minimum cosine of two statements that say the same"
    )
    decay_half_life_days: float | None = Field(
        None, gt=0, description="Days in which an unused memory loses half its weight"
    )
    decay_use_adds: float | None = Field(None, ge=0, le=1, description="What each use adds to a memory's weight")
    decay_uses_add_at_most: float | None = Field(None, ge=0, le=1, description="Maximum that all uses together add")
    archive_from_days: int | None = Field(None, ge=0, description="Minimum age of archived facts, in days")
    archive_below: float | None = Field(
        None, ge=0, le=1, description="Importance × decay below which a fact is archived"
    )
    live_episodes: int | None = Field(None, ge=1, description="Maximum episodes of a user that aren't archived")
    key_moment_significance: float | None = Field(None, ge=0, le=1, description="Minimum significance of a key moment")
    relationship_stages: str | None = Field(
        None, description="Number of sessions below which a user is NEW, DEVELOPING, COMFORTABLE"
    )

    # Prompt budget
    budget_plan: Literal["small", "standard", "long"] | None = Field(
        None, description="Plan of users who haven't chosen one"
    )
    budget_total_tokens: int | None = Field(
        None, ge=2_000, description="In that plan: all tokens of a request, including the answer"
    )
    budget_output_tokens: int | None = Field(None, ge=256, description="In that plan: tokens reserved for the answer")
    budget_system_tokens: int | None = Field(
        None, ge=1_000, description="In that plan: ceiling of system prompt, tools and boundaries"
    )
    budget_profile_tokens: int | None = Field(None, ge=0, description="In that plan: ceiling of the profile")
    budget_history_tokens: int | None = Field(None, ge=500, description="In that plan: ceiling of the history")
    budget_memory_tokens: int | None = Field(None, ge=0, description="In that plan: ceiling of recalled memories")
    budget_task_tokens: int | None = Field(
        None, ge=300, description="In that plan: ceiling of task state and tool results"
    )
    history_first_turns: int | None = Field(None, ge=0, description="First turns that stay when history is trimmed")
    history_last_turns: int | None = Field(None, ge=1, description="Last turns that stay when history is trimmed")
    compact_after_turns: int | None = Field(
        None, ge=4, description="Full turns in a prompt before older ones are compacted"
    )
    compact_at_window_percent: int | None = Field(
        None, ge=5, le=100, description="Percentage of the model's window at which older turns are compacted"
    )
    compact_keep_turns: int | None = Field(
        None, ge=1, description="Turns that stay in full when older ones are compacted"
    )
    segment_turns: int | None = Field(None, ge=3, description="Maximum turns of one summary")
    prompt_segments: int | None = Field(None, ge=1, description="Maximum summaries in a prompt; older ones are merged")
    summary_verbosity: Literal["brief", "normal", "full"] | None = Field(
        None, description="Length of a summary: at most 150, 400 or 800 tokens"
    )
    convo_summary_every_n_messages: int | None = Field(
        None, ge=6, description="Messages after which a summary is made, in every plan"
    )
    convo_summary_max_tokens: int | None = Field(None, ge=80, description="Maximum tokens of one summary in a prompt")
    artifact_from_tokens: int | None = Field(
        None, ge=50, description="Tokens above which a tool result is moved to a document"
    )
    web_search_results: int | None = Field(
        None, ge=1, le=10, description="Excerpts of one web search that the model sees"
    )

    # Observability
    slow_statement_ms: int = Field(
        1_000, ge=0, description="Milliseconds from which a statement is logged, without its values; 0: none"
    )
    traces_url: str | None = Field(
        None, description="Address of a collector of traces (OTLP over HTTP); unset: there are none"
    )
    log_format: Literal["plain", "json"] = Field("plain", description="Log lines for people, or one JSON object a line")
    metrics_token: SecretStr | None = Field(
        None,
        description="Bearer token for /metrics (Prometheus); unset: no such page",
    )
    memory_debug: bool = Field(
        False, description="Lets everyone request MEMORY_DEBUG lines with a turn; staff always can"
    )
    rag_debug: bool = Field(False, description="The same for RAG_DEBUG")
    search_debug: bool = Field(False, description="The same for SEARCH_DEBUG")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="Minimum level of log lines")

    @field_validator(*SCHEMES)
    @classmethod
    def _address(cls, value: str | None, info: ValidationInfo) -> str | None:
        schemes = SCHEMES[str(info.field_name)]
        if value is not None and not value.startswith(schemes):
            raise ValueError(f"must start with {' or '.join(schemes)}")
        if value is not None and not value.startswith(("postgres", "redis")):
            _ = urlsplit(value).port  # raises for an invalid port; a database URL may name several hosts
        return value.rstrip("/") if value else value

    @field_validator("web_search_url")
    @classmethod
    def _needed_by_searxng(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is None and info.data.get("web_search") == "searxng":
            raise ValueError("is required for WEB_SEARCH=searxng")
        return value

    @field_validator("relationship_stages")
    @classmethod
    def _three_rising_numbers(cls, value: str | None) -> str | None:
        numbers = [int(word) for word in value.split(",") if word.strip().isdigit()] if value else [1, 2, 3]
        if len(numbers) != 3 or numbers != sorted(set(numbers)):
            raise ValueError("must be three rising numbers, such as 2,5,20")
        return value

    @field_validator("embedding_folder", "reranker_folder")
    @classmethod
    def _holds_a_model(cls, value: Path | None) -> Path | None:
        if value is None or (any((value / name).is_file() for name in GRAPHS) and (value / TOKENIZER).is_file()):
            return value
        raise ValueError(f"must be a folder with {GRAPHS[0]} and {TOKENIZER}")

    @field_validator("rag_chunk_overlap")
    @classmethod
    def _less_than_half(cls, value: int, info: ValidationInfo) -> int:
        size = info.data.get("rag_chunk_size")  # missing if it is invalid itself
        if size is not None and value > size // 2:
            raise ValueError(f"must be at most half of RAG_CHUNK_SIZE, {size // 2}")
        return value

    @field_validator("model_capabilities")
    @classmethod
    def _known_capabilities(cls, value: str) -> str:
        unknown = {word.strip() for word in value.split(",") if word.strip()} - CAPABILITIES
        if unknown:
            raise ValueError(f"unknown: {', '.join(sorted(unknown))}; use {', '.join(sorted(CAPABILITIES))}")
        return value

    @field_validator("database_url", "database_owner_url")
    @classmethod
    def _connection_address(cls, value: str | None) -> str | None:
        try:
            conninfo_to_dict(value or "")
        except ProgrammingError:
            raise ValueError("is not a valid PostgreSQL address") from None  # it may hold a password
        return value

    @property
    def is_offline(self) -> bool:
        """True when no model provider is configured, so that the offline server answers."""
        return self.anthropic_api_key is None and self.anthropic_base_url is None


def read_environment() -> Environment:
    """Read and check the environment.

    Raises:
        ImproperlyConfigured: one sentence that names each invalid variable and why.
    """
    try:
        return Environment()
    except ValidationError as error:
        wrong = [f"{str(e['loc'][0]).upper()}: {e['msg'].removeprefix('Value error, ')}" for e in error.errors()]
        raise ImproperlyConfigured(f"Invalid settings: {'; '.join(wrong)}.") from None


def setting[T](name: str, constant: T) -> T:
    """The operator's value of `name`, or the constant. For module constants: read once, at import."""
    chosen = getattr(settings.ENVIRONMENT, name)
    return constant if chosen is None else chosen


def kept_secret_key(var_dir: Path) -> str:
    """The signing key without SECRET_KEY: generated once and stored, readable by its owner only.

    Raises:
        ImproperlyConfigured: `var_dir` can't be written or read.
    """
    path = var_dir / "secret_key"
    try:
        if not path.exists():
            _make_secret_key(path)
        return path.read_text()
    except OSError as error:
        raise ImproperlyConfigured(
            f"VAR_DIR: can't use {error.filename or var_dir} ({error.strerror}). Choose a writable folder."
        ) from error


def former_keys(secret: SecretStr | None) -> list[str]:
    """The keys of SECRET_KEY_FALLBACKS as a list."""
    return [key.strip() for key in secret.get_secret_value().split(",") if key.strip()] if secret else []


def _make_secret_key(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.touch(mode=0o600)
    draft.write_text(secrets.token_urlsafe(48))
    try:
        path.hardlink_to(draft)  # whole, or not at all
    except FileExistsError:
        pass  # another process was first: use its key
    finally:
        draft.unlink()
