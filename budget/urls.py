"""Addresses of the usage pages and of receipts."""

from django.urls import path

from budget.views import dashboard, receipts

urlpatterns = [
    path("usage", dashboard.home, name="usage"),
    path("usage/advanced", dashboard.advanced, name="usage_advanced"),
    path("usage/now", dashboard.now, name="usage_now"),
    path("usage/turn", dashboard.turn, name="usage_turn"),
    path("usage/charts", dashboard.charts, name="usage_charts"),
    path("usage/plan", dashboard.plan, name="usage_plan"),
    path("usage/limits", dashboard.limits, name="usage_limits"),
    path("usage/line/<uuid:conversation>", receipts.line, name="usage_line"),
    path("usage/retire/<int:pk>", dashboard.retire, name="retire_memory"),
    path("receipts/<int:message_id>", receipts.receipt, name="receipt"),
    path("receipts/<int:message_id>/debug", receipts.debug, name="receipt_debug"),
]
