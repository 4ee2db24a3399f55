"""Conversations, messages and roles in the admin: to look at, not to write."""

from __future__ import annotations

from django.contrib import admin

from chat.models import Conversation, Message, Role


@admin.register(Conversation)
class ConversationAdmin(admin.ModelAdmin[Conversation]):
    """Whose conversation, and in which state."""

    list_display = ("__str__", "user", "status", "started_at", "last_activity_at")
    list_filter = ("status",)
    search_fields = ("title", "user__email")
    list_select_related = ("user",)
    date_hierarchy = "started_at"
    raw_id_fields = ("user", "role", "active_leaf")
    show_full_result_count = False


@admin.register(Message)
class MessageAdmin(admin.ModelAdmin[Message]):
    """The event log; append-only, so nothing here can be changed."""

    list_display = ("id", "conversation", "user", "seq", "turn", "role", "event_type", "status", "created_at")
    list_filter = ("event_type", "status")
    search_fields = ("=id", "user__email")
    list_select_related = ("conversation", "user")
    exclude = ("search",)
    show_full_result_count = False

    def has_add_permission(self, request: object) -> bool:
        """Messages come from people and models."""
        return False

    def has_change_permission(self, request: object, obj: object = None) -> bool:
        """The log is append-only."""
        return False


@admin.register(Role)
class RoleAdmin(admin.ModelAdmin[Role]):
    """Roles people wrote."""

    list_display = ("name", "user", "version", "created_at")
    search_fields = ("name", "user__email")
    raw_id_fields = ("user",)
