"""Django's settings: wiring only. An operator's choices come from `recall/environment.py`."""

import logging
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import django_stubs_ext
from django.utils.csp import CSP
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool

from recall.environment import former_keys, kept_secret_key, read_environment
from recall.observability.logs import MORE_THAN_IDS
from recall.process import embedded_postgres

django_stubs_ext.monkeypatch()  # so that `ModelAdmin[Fact]` works at runtime

BASE_DIR = Path(__file__).resolve().parent.parent
ENVIRONMENT = read_environment()
VAR_DIR = ENVIRONMENT.var_dir.expanduser().resolve()
MODEL_CACHE_DIR = VAR_DIR / "models"
TIKTOKEN_CACHE_DIR = VAR_DIR / "tiktoken"

SECRET_KEY = ENVIRONMENT.secret_key.get_secret_value() if ENVIRONMENT.secret_key else kept_secret_key(VAR_DIR)
SECRET_KEY_FALLBACKS = former_keys(ENVIRONMENT.secret_key_fallbacks)
DEBUG = ENVIRONMENT.debug
ALLOWED_HOSTS = [host.strip() for host in ENVIRONMENT.allowed_hosts.split(",") if host.strip()]

INSTALLED_APPS = [
    "django.contrib.admin.apps.SimpleAdminConfig",  # `recall/urls.py` loads the admin: only a web process has pages
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "django_htmx",
    "channels",
    "recall",
    "accounts",
    "memory",
    "budget",
    "chat",
]

MIDDLEWARE = [
    "recall.observability.requests.RequestMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "recall.http.compression.PageCompressionMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "accounts.middleware.ActingMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "accounts.middleware.SessionSeenMiddleware",
    "accounts.middleware.TimeZoneMiddleware",
]

ROOT_URLCONF = "recall.urls"
ASGI_APPLICATION = "recall.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.csp",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "recall.http.context_processors.model_in_use",
                "recall.http.context_processors.mail_in_use",
            ]
        },
    }
]

# The model provider ---------------------------------------------------------------------------------------------

IS_OFFLINE = ENVIRONMENT.is_offline
"""No provider key or URL is set: the offline server answers, and every page of a user says so."""
PROVIDER_BASE_URL = (
    ENVIRONMENT.offline_url or f"http://127.0.0.1:{ENVIRONMENT.offline_port or 8100}"
    if IS_OFFLINE
    else ENVIRONMENT.anthropic_base_url or "https://api.anthropic.com"
)
PROVIDER_API_KEY = ENVIRONMENT.anthropic_api_key.get_secret_value() if ENVIRONMENT.anthropic_api_key else "offline"
"""Local servers accept any key; the offline server accepts this one."""

# The database ---------------------------------------------------------------------------------------------------

DATABASE_DSN: dict[str, Any] = (
    dict(conninfo_to_dict(ENVIRONMENT.database_url))
    if ENVIRONMENT.database_url
    else embedded_postgres.dsn(VAR_DIR, embedded_postgres.APPLICATION)
)
"""libpq keywords of the database: dbname, user, host, port, password, sslmode, …"""
OWNER_DSN: dict[str, Any] = (
    dict(conninfo_to_dict(ENVIRONMENT.database_owner_url or ENVIRONMENT.database_url))
    if ENVIRONMENT.database_url
    else embedded_postgres.dsn(VAR_DIR)
)
"""The same as the owner of the tables (`recall/db/acting.py`)."""


RECONNECT: dict[str, Any] = {"reconnect_timeout": 1.0, "reconnect_failed": ConnectionPool.check}
"""During an outage the pool retries every second. By default it doubles its pauses, so requests would keep failing for
as long as the outage had lasted."""


def django_database(dsn: dict[str, Any], *, pool_size: int | None) -> dict[str, Any]:
    """A DATABASES entry for libpq keywords; `pool_size` None: no pool (tests and short commands)."""
    known = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
    options: dict[str, Any] = {}
    entry: dict[str, Any] = {
        "ENGINE": "recall.db.engine",
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": options,
    }
    for keyword, value in dsn.items():
        if keyword in known:
            entry[known[keyword]] = str(value)
        else:
            options[keyword] = value
    if pool_size:
        options["pool"] = {"min_size": 2, "max_size": pool_size, "timeout": 10, **RECONNECT}
    return entry


OWNER = {keyword: value for keyword, value in OWNER_DSN.items() if keyword != "dbname"}
DATABASES = {
    "default": {**django_database(DATABASE_DSN, pool_size=ENVIRONMENT.database_pool_size), "OWNER": OWNER},
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Pages -----------------------------------------------------------------------------------------------------------

SECURE_CSP = {
    "default-src": [CSP.SELF],
    "script-src": [CSP.SELF],
    "style-src": [CSP.SELF],
    "img-src": [CSP.SELF, "data:"],
    "connect-src": [CSP.SELF],
    "form-action": [CSP.SELF],
    "base-uri": [CSP.NONE],
    "frame-ancestors": [CSP.NONE],
    "object-src": [CSP.NONE],
}
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
_PUBLIC = urlsplit(ENVIRONMENT.public_url) if ENVIRONMENT.public_url else None
_HTTPS = _PUBLIC is not None and _PUBLIC.scheme == "https"
SESSION_ENGINE = "accounts.sessions"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _HTTPS
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if _HTTPS else None
if _PUBLIC is not None:
    ALLOWED_HOSTS.append(_PUBLIC.hostname or "")
    CSRF_TRUSTED_ORIGINS = [f"{_PUBLIC.scheme}://{_PUBLIC.netloc}"]

STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static", ("docs/images", BASE_DIR / "docs" / "images")]
WHITENOISE_USE_FINDERS = DEBUG  # otherwise `recall/process/static_files.py` collects them
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

# Accounts --------------------------------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_EMAIL_VERIFICATION = "mandatory" if ENVIRONMENT.email_url else "optional"
"""With mail, sign-up answers the same for a known address: its owner gets a mail. Without it, no one could verify."""
ACCOUNT_LOGOUT_ON_GET = False
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = "Recall: "
ACCOUNT_ADAPTER = "accounts.adapter.AccountAdapter"
ACCOUNT_FORMS = {
    "signup": "accounts.forms.SignupForm",
    "change_password": "accounts.forms.ChangePasswordForm",
    "reset_password_from_key": "accounts.forms.ResetPasswordKeyForm",
    "set_password": "accounts.forms.SetPasswordForm",
}
ACCOUNT_REAUTHENTICATION_REQUIRED = True
# allauth's defaults; key: the address
ACCOUNT_RATE_LIMITS = {"login": "30/m/ip", "login_failed": "10/m/ip,5/300s/key"}
"""Someone at an open browser can't add their own address and take over the account."""
ACCOUNT_EMAIL_NOTIFICATIONS = bool(ENVIRONMENT.email_url)
"""Notify users by mail of every change to their sign-in, if a mail server is configured."""
MFA_ADAPTER = "accounts.adapter.MFAAdapter"
MFA_FORMS = {
    "add_webauthn": "accounts.forms.AddPasskeyForm",
    "authenticate_webauthn": "accounts.forms.SecondFactorPasskeyForm",
    "login_webauthn": "accounts.forms.SignInPasskeyForm",
    "reauthenticate_webauthn": "accounts.forms.ConfirmPasskeyForm",
}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "Recall"
MFA_ALLOW_UNVERIFIED_EMAIL = not ENVIRONMENT.email_url
"""With a mail server a second factor needs a verified address: otherwise anyone could sign up with another person's
address and lock its owner out. Without one, no one could verify theirs."""
USERSESSIONS_ADAPTER = "accounts.adapter.UserSessionsAdapter"
PASSWORD_LENGTH = 10
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": PASSWORD_LENGTH},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

DEFAULT_FROM_EMAIL = ENVIRONMENT.default_from_email
MAILERS: dict[str, dict[str, Any]] = {"default": {"BACKEND": "recall.observability.logged_mail.LoggedMail"}}
if ENVIRONMENT.email_url:
    _MAIL = urlsplit(ENVIRONMENT.email_url)
    MAILERS["default"] = {
        "BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "OPTIONS": {
            "host": _MAIL.hostname or "localhost",
            "port": _MAIL.port or (465 if _MAIL.scheme == "smtps" else 587),
            "username": unquote(_MAIL.username or ""),
            "password": unquote(_MAIL.password or ""),
            "use_tls": _MAIL.scheme == "smtp",
            "use_ssl": _MAIL.scheme == "smtps",
        },
    }

# Between processes -----------------------------------------------------------------------------------------------

CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "recall.db.channel_layer.ChannelLayer",
        "CONFIG": {"capacity": 1000, "group_expiry": 10**10},  # its default drops a socket from its groups after a day
    }
}
"""Within a process; `recall/db/notify.py` connects the processes."""

CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "recall_cache",
        # Failed sign-ins and used codes: with Django's 300 entries an attacker could evict them.
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    }
}
"""One table for all processes, with Redis or without."""

LOGGING_CONFIG = "recall.observability.logs.configure"
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {"()": "recall.observability.logs.PlainLines", "debug": ENVIRONMENT.debug},
        "json": {"()": "recall.observability.logs.JsonLines"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": ENVIRONMENT.log_format}},
    "root": {"handlers": ["console"], "level": ENVIRONMENT.log_level},
    # Recall's own log lines contain no user text; these loggers would add noise or request URLs.
    "loggers": {
        **{name: {"level": level} for name, level in MORE_THAN_IDS.items()},
        # Through the root's format: uvicorn sets up handlers of its own before it loads Recall.
        "uvicorn": {"level": "INFO", "propagate": True},
        "uvicorn.error": {"level": max(logging.INFO, logging.getLogger("uvicorn.error").level)},  # its --log-level
        "uvicorn.access": {"level": "WARNING", "propagate": False},  # addresses, with the words of a search
        "recall.mail": {"level": "INFO"},
        "celery.worker.strategy": {"level": "WARNING"},  # each message
        "celery.app.trace": {"level": "WARNING"},  # each task; a failed one is an ERROR
        "celery.beat": {"level": "WARNING"},  # each tick of the clock
        "psycopg.pool": {"level": "ERROR"},  # each connection attempt; whatever fails because of it logs its own error
    },
}
