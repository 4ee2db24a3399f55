"""Addresses of the chat's pages."""

from __future__ import annotations

from django.urls import path

from chat import sending, views

urlpatterns = [
    path("", views.new, name="new"),
    path("conversations", views.conversations, name="conversations"),
    path("c/<uuid:pk>", views.conversation, name="conversation"),
    path("c/<uuid:pk>/messages", views.conversation_messages, name="conversation_messages"),
    path("c/<uuid:pk>/librarian", views.librarian_state, name="librarian_state"),
    path("c/<uuid:pk>/end", views.end, name="end_conversation"),
    path("c/<uuid:pk>/read-again", views.read_again, name="read_again"),
    path("c/<uuid:pk>/rename", views.rename, name="rename_conversation"),
    path("c/<uuid:pk>/delete", views.delete, name="delete_conversation"),
    path("m/<int:pk>", views.message, name="message"),
    path("send", sending.send_over_http, name="send"),
]
