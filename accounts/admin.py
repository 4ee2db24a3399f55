"""Admin of users, their usage this month, API keys, idempotent requests and the staff access log.

No one sees a password hash unless they may set passwords; a key is shown by its first characters, never its digest.
"""

from http import HTTPStatus
from typing import Any, Final

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.contrib import admin, messages
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.db.models import F, OuterRef, Q, QuerySet, Subquery, Sum
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from accounts import deletion
from accounts.api import keys
from accounts.models import AccessLog, ApiKey, IdempotentRequest, User
from accounts.sessions import close_user_sockets
from accounts.staff.large_tables import LargeTableAdmin, people
from accounts.staff.logged_admin import ReadOnlyAdmin, RecordAdmin
from recall.figures import money
from recall.text import whole_number

USED: Final = {
    "turns": F("turns"),
    "tokens": F("input_tokens") + F("cache_read_tokens") + F("cache_write_tokens") + F("output_tokens"),
    "cost": F("cost"),
}
"""This month's usage: the columns of `budget.UsageDay` that are summed."""
RIGHTS: Final = ("is_staff", "is_superuser", "groups", "user_permissions")
"""Only superusers may set these: anyone who can could grant themselves everything."""


@admin.register(User)
class UserAdmin(LargeTableAdmin, DjangoUserAdmin[User]):
    """Django's user pages, by email address, with this month's usage."""

    list_display = ("email", "preferred_name", "is_active", "is_staff", "last_login", "this_month")
    list_filter = ("is_staff", "is_superuser", "is_active", "groups")
    readonly_fields = ("last_login", "date_joined", "turns", "tokens", "cost")
    fieldsets = (
        (None, {"fields": ("email", "password")}),
        (
            "Profile",
            {"fields": ("preferred_name", "time_zone", "language", "relationship_stage", "chat_model", "effort")},
        ),
        ("Usage this month", {"fields": ("turns", "tokens", "cost")}),
        ("Permissions", {"fields": ("is_active", *RIGHTS)}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )
    add_fieldsets = ((None, {"classes": ("wide",), "fields": ("email", "usable_password", "password1", "password2")}),)

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        """With this month's sums, computed only for the rows on the page."""
        day = apps.get_model("budget", "UsageDay")  # budget is above accounts: by name only
        month = day._default_manager.filter(user=OuterRef("pk"), day__gte=timezone.localdate().replace(day=1))
        sums = {
            f"used_{name}": Subquery(month.order_by().values("user").annotate(sum=Sum(column)).values("sum"))
            for name, column in USED.items()
        }
        rows: QuerySet[User] = super().get_queryset(request).annotate(**sums)
        return rows

    @admin.display(description="Turns this month")
    def turns(self, user: Any) -> int:
        """The user's turns with all models."""
        return user.used_turns or 0

    @admin.display(description="Tokens this month")
    def tokens(self, user: Any) -> str:
        """All tokens, in and out."""
        return f"{user.used_tokens or 0:,}"

    @admin.display(description="Cost this month")
    def cost(self, user: Any) -> str:
        """US dollars, where prices are known."""
        return money(user.used_cost or 0)

    @admin.display(description="This month")
    def this_month(self, user: Any) -> str:
        """Turns, tokens and cost in one column."""
        return f"{self.turns(user):,} turns, {self.tokens(user)} tokens, {self.cost(user)}"

    def search_condition(self, term: str) -> Q:
        """Match by id, or by the start of the email address."""
        number = whole_number(term)
        return Q(pk=number) if number is not None else Q(pk__in=people(term))

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Only superusers see the password field."""
        shown = super().get_fieldsets(request, obj)
        if request.user.is_superuser:
            return shown
        return [
            (name, {**options, "fields": [field for field in options["fields"] if field != "password"]})
            for name, options in shown
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Only superusers change rights, and the address to which a link for a new password is sent."""
        fixed = super().get_readonly_fields(request, obj)
        return fixed if request.user.is_superuser else (*fixed, *RIGHTS, *(() if obj is None else ("email",)))

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Only superusers may change a superuser's account."""
        return super().has_change_permission(request, obj) and not _is_above(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Only superusers may delete a superuser's account."""
        return super().has_delete_permission(request, obj) and not _is_above(request, obj)

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:  # noqa: A002
        """Only superusers may set a password, with which anyone could sign in. Then the user's open pages close."""
        if not request.user.is_superuser:
            raise PermissionDenied
        response = super().user_change_password(request, id, form_url)
        if response.status_code == HTTPStatus.FOUND:
            close_user_sockets(self.get_object(request, id))
        return response

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """The number of rows to be deleted; no texts are listed."""
        numbers = {what: str(count) for user in objs for what, count in deletion.count_owned_rows(user)}
        perms_needed = set() if all(self.has_delete_permission(request, user) for user in objs) else {"user"}
        return [str(user) for user in objs], numbers, perms_needed, []

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        """Delete the account, as users do it themselves."""
        deletion.delete_account(obj)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        """Delete several accounts the same way."""
        for user in queryset:
            deletion.delete_account(user)

    def response_delete(self, request: HttpRequest, obj_display: str, obj_id: int) -> Any:
        """The confirmation is stored in a session, so it names no one."""
        return super().response_delete(request, "The account", obj_id)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        """Logs that an account was deleted, but not whose."""
        nameless = [User(pk=user.pk, email="(deleted)") for user in queryset]
        return super().log_deletions(request, nameless)  # type: ignore[arg-type]


def _is_above(request: HttpRequest, obj: User | None) -> bool:
    return obj is not None and obj.is_superuser and not request.user.is_superuser


admin.site.unregister(Group)


@admin.register(Group)
class GroupAdmin(DjangoGroupAdmin):
    """Groups: only superusers write them. Anyone else who can could grant their own group everything."""

    def has_add_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        """Superusers only."""
        return request.user.is_superuser

    has_change_permission = has_delete_permission = has_add_permission


@admin.register(ApiKey)
class ApiKeyAdmin(RecordAdmin):
    """API keys, to revoke one that leaked; only owners create them."""

    list_display = ("prefix", "name", "user", "scopes", "last_used_at", "expires_at", "revoked_at")
    list_filter = (("revoked_at", admin.EmptyFieldListFilter),)
    fields = ("prefix", "name", "user", "scopes", "created_at", "last_used_at", "expires_at", "revoked_at")
    heavy = ("digest",)
    actions = ("revoke",)

    @admin.action(description="Revoke", permissions=["action"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        """Revoke the selected keys."""
        rows = list(queryset.select_related("user"))
        done = [key for key in rows if keys.revoke(key.user, key.pk)]
        for key in done:
            self.log_change(request, key, "Revoked.")
        text = f"{len(done)} revoked; {len(rows) - len(done)} already revoked."
        self.message_user(request, text, messages.SUCCESS if done else messages.INFO)


@admin.register(IdempotentRequest)
class IdempotentRequestAdmin(RecordAdmin):
    """Idempotency keys of API writes, without the stored responses."""

    list_display = ("id", "user", "key", "status", "content_type", "created_at")
    list_filter = ("created_at",)
    heavy = ("body",)
    personal = ("key",)


@admin.register(AccessLog)
class AccessLogAdmin(LargeTableAdmin, ReadOnlyAdmin):
    """The staff access log: read-only, even for superusers."""

    list_display = ("at", "reader", "user", "what")
    list_filter = ("at",)
    list_select_related = ("reader", "user")

    def search_condition(self, term: str) -> Q:
        """Match by id, owner or reader."""
        return super().search_condition(term) | Q(reader__in=people(term))


for secret in (Authenticator, UserSession):  # allauth's pages would show second-factor secrets and sessions
    if admin.site.is_registered(secret):
        admin.site.unregister(secret)
