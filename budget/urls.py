"""Addresses of the budget's pages."""

from __future__ import annotations

from django.urls import path

from budget import views

urlpatterns = [
    path("receipts/<int:message_id>", views.receipt, name="receipt"),
]
