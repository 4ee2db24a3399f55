"""A bench's ratio that has become more than a tenth worse is named."""

from bench.results import worse


def test_a_ratio_may_become_a_tenth_worse_and_no_more() -> None:
    before = {"first token": 1.0, "retrieval": 2.0, "gone": 3.0}

    found = list(worse(before, {"first token": 1.09, "retrieval": 2.3, "new": 9.0}))

    assert found == ["retrieval: 2.0 → 2.3", "gone: 3.0, no longer measured"]
