"""The settings of applications that tests start: Recall's own, but passwords cost next to nothing to hash."""

from recall.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # the usual one takes 0.4 s of a core
