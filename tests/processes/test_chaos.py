"""`make chaos` in its short form: processes die at random under people who talk, and every invariant holds."""

import secrets

import pytest

from tests.processes.chaos import MODES, run_chaos

SECONDS = 20.0
"""Of killing; with starting and settling a minute and a half, in each mode, on a machine that does nothing else."""


@pytest.mark.processes
@pytest.mark.redis
@pytest.mark.timeout(600)
@pytest.mark.parametrize("mode", MODES)
def test_after_random_kills_every_invariant_holds(mode: str) -> None:
    report = run_chaos(mode, SECONDS, seed=secrets.randbits(16))
    assert report.wrong == [], str(report)
    assert report.kills, str(report)
