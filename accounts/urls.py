"""Addresses of Recall's own account pages, among them one in place of allauth's; the others are allauth's."""

from __future__ import annotations

from django.urls import path

from accounts import views

urlpatterns = [
    path("delete", views.delete_account, name="delete_account"),
    path("password/change/", views.ChangePassword.as_view(), name="account_change_password"),
    path("deleted", views.account_deleted, name="account_deleted"),
]
