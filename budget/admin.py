"""Admin of receipts, profile snapshots, usage, prices, plans, limits and calibration."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import OuterRef, Subquery
from django.http import HttpRequest

from accounts.staff.logged_admin import LoggedAdmin, ReadOnlyAdmin, RecordAdmin
from budget.counting import calibration
from budget.models import BudgetPlan, Calibration, Limit, Price, ProfileSnapshot, Receipt, UsageDay
from budget.planning.user_plan import InvalidPlanError, validate_plan
from budget.spending import prices
from budget.spending.limits import InvalidLimitError, What, validate_amount
from recall.figures import money

LONG = ("items", "sections", "rounds", "ingredients", "prefix", "base_by_class", "timings")
"""Large columns of a receipt that lists don't load."""


class WithCost:
    """A list whose cost is printed as pages print it."""

    @admin.display(description="Cost", ordering="cost")
    def shown_cost(self, row: Any) -> str:
        """US dollars; empty: unknown."""
        return money(row.cost)


def _is_list(request: HttpRequest) -> bool:
    match = request.resolver_match
    return match is not None and str(match.url_name).endswith("_changelist")


@admin.register(Receipt)
class ReceiptAdmin(WithCost, RecordAdmin):
    """Receipts, one per turn."""

    list_display = ["created_at", "user", "turn", "model", "state", "total_input", "output_tokens", "shown_cost"]
    list_filter = ["state", "usage_is_estimated", "created_at"]
    found_by = ["pk", "message", "conversation"]

    def get_queryset(self, request: HttpRequest) -> Any:
        """Leaves out the columns that only a row's page shows: a receipt may hold 100 kB."""
        rows = super().get_queryset(request)
        return rows.defer(*LONG) if _is_list(request) else rows


@admin.register(ProfileSnapshot)
class ProfileSnapshotAdmin(RecordAdmin):
    """Profile texts that conversations are or were pinned to."""

    list_display = ["created_at", "user", "conversation", "reason"]
    list_filter = ["created_at"]
    found_by = ["pk", "conversation"]
    list_select_related = ["user", "conversation"]


@admin.register(Price)
class PriceAdmin(admin.ModelAdmin[Price]):
    """US dollars per million tokens. A new price is a new row with its date; old receipts keep theirs."""

    list_display = [
        "model",
        "valid_from",
        "until",
        "from_input_tokens",
        "input",
        "output",
        "write_5m",
        "write_1h",
        "read",
    ]
    list_filter = ["valid_from"]
    search_fields = ["model"]
    save_as = True
    """To change a price, use “Save as new” with another date."""

    def get_queryset(self, request: HttpRequest) -> Any:
        """Prices, each with the date of the next price of its model and tier."""
        same = Price.objects.filter(model=OuterRef("model"), from_input_tokens=OuterRef("from_input_tokens"))
        later = same.filter(valid_from__gt=OuterRef("valid_from")).order_by("valid_from").values("valid_from")[:1]
        return super().get_queryset(request).annotate(replaced_on=Subquery(later))

    @admin.display(description="Replaced on", empty_value="current")
    def until(self, price: Any) -> Any:
        """The date of the next price; None: this one is current."""
        return price.replaced_on

    def save_model(self, request: HttpRequest, obj: Price, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        prices.forget_known_prices()


@admin.register(Calibration)
class CalibrationAdmin(ReadOnlyAdmin):
    """Learned token ratios. Delete a wrong one to learn it again."""

    list_display = ["model", "text_class", "ratio", "samples", "error", "updated_at"]
    list_filter = ["text_class", "model"]
    search_fields = ["model"]
    ordering = ["model", "text_class"]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return admin.ModelAdmin.has_delete_permission(self, request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        super().delete_queryset(request, queryset)
        calibration.forget_known_ratios()

    def delete_model(self, request: HttpRequest, obj: Calibration) -> None:
        super().delete_model(request, obj)
        calibration.forget_known_ratios()


class BudgetPlanForm(forms.ModelForm[BudgetPlan]):
    """Validates like the user's own page, with the same messages."""

    class Meta:
        model = BudgetPlan
        fields = ["user", "preset", "total", "output_reserve", "ceilings"]

    def clean(self) -> dict[str, Any]:
        chosen: dict[str, Any] = super().clean() or self.cleaned_data
        if self.errors:
            return chosen
        try:
            validate_plan(chosen["preset"], chosen["total"], chosen["output_reserve"], chosen["ceilings"] or {})
        except InvalidPlanError as wrong:
            for name, sentence in wrong.errors.items():
                self.add_error(name if name in self.fields else "ceilings", sentence)
        return chosen


@admin.register(BudgetPlan)
class BudgetPlanAdmin(LoggedAdmin):
    """Users' plans. Deleting one resets its user to the default preset."""

    form = BudgetPlanForm
    list_display = ["user", "preset", "total", "output_reserve", "updated_at"]
    autocomplete_fields = ["user"]


class LimitForm(forms.ModelForm[Limit]):
    """A limit set by staff."""

    class Meta:
        model = Limit
        fields = ["user", "what", "per", "amount"]

    def clean(self) -> dict[str, Any]:
        chosen: dict[str, Any] = super().clean() or self.cleaned_data
        if {"what", "amount"} <= chosen.keys():
            try:
                validate_amount(What(chosen["what"]), chosen["amount"])
            except InvalidLimitError as wrong:
                self.add_error("amount", str(wrong))
        same = Limit.objects.filter(**{name: chosen.get(name) for name in ("user", "what", "per")}, set_by_staff=True)
        if same.exclude(pk=self.instance.pk).exists():
            self.add_error(None, "Staff already set this limit. Change the existing one.")
        return chosen


@admin.register(Limit)
class LimitAdmin(LoggedAdmin):
    """Limits. Those that users set themselves are read-only here."""

    form = LimitForm
    list_display = ["user", "what", "per", "amount", "set_by_staff"]
    list_filter = ["set_by_staff", "what", "per"]
    autocomplete_fields = ["user"]

    def save_model(self, request: HttpRequest, obj: Limit, form: Any, change: bool) -> None:
        obj.set_by_staff = True
        super().save_model(request, obj, form, change)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_change_permission(request, obj) and (obj is None or obj.set_by_staff)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_delete_permission(request, obj) and (obj is None or obj.set_by_staff)


@admin.register(UsageDay)
class UsageDayAdmin(WithCost, RecordAdmin):
    """Usage per user, day of their time zone, and model."""

    list_display = ["day", "user", "model", "turns", "tokens", "shown_cost", "unpriced"]
    list_filter = ["day"]
