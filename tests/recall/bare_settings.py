"""Recall's settings with none of its apps: a worker for tests of the queue starts in half the time."""

from recall.settings import *  # noqa: F403

INSTALLED_APPS = ["recall"]
AUTH_USER_MODEL = "auth.User"
MIDDLEWARE = []
TEMPLATES = []
ROOT_URLCONF = __name__
urlpatterns: list[object] = []
