"""`make chaos` in its short form: processes die at random under people who talk, and every invariant holds."""

import secrets

import pytest

from tests.processes.chaos import MODES, run_chaos

SECONDS = 8.0
"""Of killing, in each mode; `make chaos` kills for five minutes."""


@pytest.mark.processes
@pytest.mark.redis
@pytest.mark.timeout(600)
@pytest.mark.flaky(reruns=0)  # another seed might hide what this one found
@pytest.mark.parametrize("mode", MODES)
def test_after_random_kills_every_invariant_holds(mode: str) -> None:
    report = run_chaos(mode, SECONDS, seed=secrets.randbits(16))
    assert report.wrong == [], str(report)
    assert report.kills, str(report)
