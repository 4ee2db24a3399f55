"""Real processes for the tests of recall's own modules."""

from collections.abc import Iterator

import pytest

from tests.running import Server, own_server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A database server that a module's tests may kill."""
    with own_server() as server:
        yield server
