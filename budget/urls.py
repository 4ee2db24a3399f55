"""Addresses of the budget's pages."""

from __future__ import annotations

from django.urls import path

from budget import debug_views, views

urlpatterns = [
    path("budget", views.home, name="budget"),
    path("budget/now", views.now, name="budget_now"),
    path("budget/charts", views.charts, name="budget_charts"),
    path("budget/plan", views.plan, name="budget_plan"),
    path("budget/limits", views.limits, name="budget_limits"),
    path("budget/line/<uuid:conversation>", views.line, name="budget_line"),
    path("budget/retire/<int:pk>", views.retire, name="retire_memory"),
    path("receipts/<int:message_id>", views.receipt, name="receipt"),
    path("receipts/<int:message_id>/debug", debug_views.debug, name="receipt_debug"),
]
