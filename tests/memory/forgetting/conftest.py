"""Alice's story, created fresh for each test."""

from typing import Any

import pytest

from accounts.models import User
from tests.memory.forgetting.conversation import Told, tell


@pytest.fixture
def told(alice: User, queued: list[Any]) -> Told:
    """The whole story, as rows."""
    return tell(alice)
