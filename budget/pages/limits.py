"""The limits form: a field for each kind of limit, with the one set by staff."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from django.db import transaction

from accounts.models import User
from budget.models import Limit
from budget.spending.limits import InvalidLimitError, Per, What, format_amount, set_limit

LABELS = {What.TURNS: "Turns", What.TOKENS: "Tokens", What.MONEY: "US dollars"}
PERIODS = {Per.DAY: "per day", Per.MONTH: "per month"}


@dataclass(frozen=True, slots=True)
class LimitField:
    name: str
    label: str
    value: str
    step: str
    by_staff: str
    """The limit set by staff; empty: none."""
    error: str = ""


def fields(
    user: User, posted: Mapping[str, str] | None = None, errors: Mapping[str, str] | None = None
) -> list[LimitField]:
    """All six fields, stored or as typed. One statement."""
    rows = {(row.what, row.per, row.set_by_staff): row.amount for row in Limit.objects.for_user(user)}
    found = []
    for what in What:
        for per in Per:
            name, own_limit, staff_limit = _name(what, per), rows.get((what, per, False)), rows.get((what, per, True))
            found.append(
                LimitField(
                    name,
                    f"{LABELS[what]} {PERIODS[per]}",
                    _typed(own_limit) if posted is None else posted.get(name, ""),
                    "0.01" if what == What.MONEY else "1",
                    format_amount(what, staff_limit, unit=True) if staff_limit is not None else "",
                    (errors or {}).get(name, ""),
                )
            )
    return found


def save(user: User, posted: Mapping[str, str]) -> dict[str, str]:
    """Save all fields, where an empty one removes its limit; or none, with a sentence for each error."""
    errors: dict[str, str] = {}
    with transaction.atomic():
        for what in What:
            for per in Per:
                try:
                    set_limit(user, what, per, _amount(posted.get(_name(what, per), "")))
                except InvalidLimitError as wrong:
                    errors[_name(what, per)] = str(wrong)
        transaction.set_rollback(bool(errors))
    return errors


def _name(what: What, per: Per) -> str:
    return f"{what}-{per}"


def _amount(typed: str) -> Decimal | None:
    typed = typed.strip().replace(",", "").removeprefix("$")
    if not typed:
        return None
    try:
        return Decimal(typed)
    except InvalidOperation:
        raise InvalidLimitError("Enter a number.") from None


def _typed(amount: Decimal | None) -> str:
    return "" if amount is None else f"{amount.normalize():f}"
