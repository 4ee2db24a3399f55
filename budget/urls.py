"""Addresses of the budget's pages."""

from django.urls import path

from budget.views import dashboard, receipts

urlpatterns = [
    path("budget", dashboard.home, name="budget"),
    path("budget/now", dashboard.now, name="budget_now"),
    path("budget/charts", dashboard.charts, name="budget_charts"),
    path("budget/plan", dashboard.plan, name="budget_plan"),
    path("budget/limits", dashboard.limits, name="budget_limits"),
    path("budget/line/<uuid:conversation>", receipts.line, name="budget_line"),
    path("budget/retire/<int:pk>", dashboard.retire, name="retire_memory"),
    path("receipts/<int:message_id>", receipts.receipt, name="receipt"),
    path("receipts/<int:message_id>/debug", receipts.debug, name="receipt_debug"),
]
