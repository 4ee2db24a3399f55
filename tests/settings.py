"""The settings of a test run: Recall's own, on a throw-away server in a temporary folder.

Nothing in the developer's environment or `.env` counts: a key or database set there is never used.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

os.environ["ENV_FILE"] = os.devnull

from recall.environment import Environment

for _name in Environment.model_fields:
    os.environ.pop(_name.upper(), None)

THROW_AWAY = Path(tempfile.mkdtemp(prefix="recall-test-")).resolve()
THROW_AWAY.chmod(0o711)  # when run as root, PostgreSQL's own account must pass through
atexit.register(shutil.rmtree, THROW_AWAY, ignore_errors=True)
# Not below THROW_AWAY: what these folders cache (the model's graph, the vocabulary) is worth keeping between runs.
_CACHES = Path(__file__).resolve().parent.parent / "var"
os.environ["VAR_DIR"] = str(THROW_AWAY)

from recall.process import embedded_postgres  # noqa: E402
from recall.settings import *  # noqa: E402, F403
from recall.settings import DATABASE_DSN, OWNER, django_database  # noqa: E402

MODEL_CACHE_DIR = _CACHES / "models"
TIKTOKEN_CACHE_DIR = _CACHES / "tiktoken"

# No pool: a test's event loop ends with connections in it, and a test database in use can't be dropped.
DATABASES = {
    "default": {
        **django_database(DATABASE_DSN, pool_size=None),
        "OWNER": OWNER,
        "CONN_MAX_AGE": None,  # instead of the pool
        "TEST": {"TEMPLATE": embedded_postgres.DATABASE},
    },
}
"""A test database is a copy of the one that was prepared (`tests/prepared.py`)."""
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_AUTOREFRESH = True
"""Look for static files on request: each test's client would otherwise look through all 400 of them first."""
