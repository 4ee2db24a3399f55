"""Receipts and snapshots to read, prices to keep up to date, and what was learned about counting."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from budget import calibration, prices
from budget.models import Calibration, Price, ProfileSnapshot, Receipt


class ReadOnlyAdmin(admin.ModelAdmin[Any]):
    """Rows that record what happened: to be read, not written."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Receipt)
class ReceiptAdmin(ReadOnlyAdmin):
    """What each turn was given, and what it cost."""

    list_display = ["created_at", "user", "turn", "model", "plan", "state", "total_input", "output_tokens", "cost"]
    list_filter = ["state", "model", "plan", "usage_is_estimated", "created_at"]
    search_fields = ["user__email", "=conversation__id", "=message__id", "request_digest"]
    list_select_related = ["user"]
    date_hierarchy = "created_at"
    ordering = ["-created_at"]
    show_full_result_count = False


@admin.register(ProfileSnapshot)
class ProfileSnapshotAdmin(ReadOnlyAdmin):
    """The profile texts that conversations are, or were, pinned to."""

    list_display = ["created_at", "user", "conversation", "reason"]
    list_filter = ["reason", "created_at"]
    search_fields = ["user__email", "=conversation__id"]
    list_select_related = ["user", "conversation"]
    ordering = ["-id"]
    show_full_result_count = False


@admin.register(Price)
class PriceAdmin(admin.ModelAdmin[Price]):
    """US dollars per million tokens. A new price is a new row with its date: old receipts keep theirs."""

    list_display = [
        "model",
        "valid_from",
        "from_input_tokens",
        "input",
        "output",
        "write_5m",
        "write_1h",
        "read",
    ]
    list_filter = ["valid_from"]
    search_fields = ["model"]

    def save_model(self, request: HttpRequest, obj: Price, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        prices.forget_known_prices()


@admin.register(Calibration)
class CalibrationAdmin(ReadOnlyAdmin):
    """The learned ratios. One that has gone astray is deleted, and learned again from the start."""

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
