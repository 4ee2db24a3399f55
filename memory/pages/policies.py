"""What does the page of policies show? Every subject, its rule, and how often proposals about it were right so far."""

from __future__ import annotations

from typing import Any, Final

from accounts.models import User
from memory.librarian.decision import Rule
from memory.librarian.policies import MEANS, NAMES, SUCH_AS, default_rule, rules_of
from memory.librarian.precision import precision_of
from memory.models import KindPolicy

LABELS: Final = {Rule(value): label for value, label in KindPolicy.Rule.choices}


def policies(user: User) -> dict[str, Any]:
    """Every subject with its rule and with how often proposals about it were right."""
    rules, tallies = rules_of(user), precision_of(user)
    rows = [
        {
            "subject": subject,
            "name": NAMES[subject],
            "such_as": SUCH_AS[subject],
            "rule": rule,
            "is_default": rule == default_rule(subject),
            "default": default_rule(subject),
            "tally": tallies[subject],
        }
        for subject, rule in rules.items()
    ]
    return {"rows": rows, "rules": [(rule, LABELS[rule], MEANS[rule]) for rule in Rule], "page": "review"}
