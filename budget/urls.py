"""Addresses of the usage pages and of receipts."""

from django.urls import path

from budget.views import receipts, usage

urlpatterns = [
    path("usage", usage.home, name="usage"),
    path("usage/advanced", usage.advanced, name="usage_advanced"),
    path("usage/now", usage.now, name="usage_now"),
    path("usage/turn", usage.turn, name="usage_turn"),
    path("usage/charts", usage.charts, name="usage_charts"),
    path("usage/plan", usage.plan, name="usage_plan"),
    path("usage/limits", usage.limits, name="usage_limits"),
    path("usage/line/<uuid:conversation>", receipts.line, name="usage_line"),
    path("usage/retire/<int:pk>", usage.retire, name="retire_memory"),
    path("receipts/<int:message_id>", receipts.receipt, name="receipt"),
    path("receipts/<int:message_id>/debug", receipts.debug, name="receipt_debug"),
]
