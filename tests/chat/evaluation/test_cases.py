"""The evaluation has enough cases of each kind, and they can be judged."""

import json
import re
from collections import Counter
from pathlib import Path

from chat.evaluation.cases import DATA, load_matrix, load_scenarios

CASES = {"replacement", "polarity", "retraction", "partial", "bounded"}


def test_there_are_six_scenarios_or_more_of_each_category_and_half_of_them_are_held_out() -> None:
    scenarios = load_scenarios()
    assert len({scenario.id for scenario in scenarios}) == len(scenarios) >= 120
    assert min(Counter(scenario.category for scenario in scenarios).values()) >= 6
    assert sum(scenario.held_out for scenario in scenarios) == len(scenarios) / 2


def test_scenarios_are_read_from_a_file_of_ones_own(tmp_path: Path) -> None:
    first, *_ = (DATA / "scenarios.jsonl").read_text("utf-8").splitlines()
    own = {name: value for name, value in json.loads(first).items() if name != "held_out"}
    (tmp_path / "own.jsonl").write_text(json.dumps(own), "utf-8")
    assert load_scenarios(tmp_path / "own.jsonl") == load_scenarios()[:1]


def test_every_scenario_says_something_and_every_probe_checks_something() -> None:
    for scenario in load_scenarios():
        assert all(session.say for session in scenario.sessions), scenario.id
        assert [session.at for session in scenario.sessions] == sorted(session.at for session in scenario.sessions)
        for probe in scenario.probes:
            checks = (probe.must, probe.must_not, probe.answer_must, probe.answer_must_not, probe.prompt_must)
            assert any(checks) or probe.absent or probe.silent, scenario.id


def test_every_case_of_the_matrix_has_several_wordings_and_a_model_that_quotes_them() -> None:
    cases = load_matrix()
    assert {case.case for case in cases} == CASES
    assert min(Counter(case.case for case in cases).values()) >= 4
    for case in cases:
        re.compile(case.stale)
        for said, which in ((case.first, "first"), (case.later, "later")):
            assert all(fact["quote"] in said for fact in case.model[which]), case.id
        known = {fact["statement"] for fact in case.model["first"]}
        for withdrawal in (*case.model["ends"], *case.model["retracts"]):
            assert withdrawal["statement"] in known
            assert withdrawal["quote"] in case.later
