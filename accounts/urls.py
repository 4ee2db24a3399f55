"""URLs of Recall's own account pages; some replace allauth's, which serves the others."""

from allauth.mfa.recovery_codes.views import download_recovery_codes, view_recovery_codes
from django.urls import path

from accounts import views

urlpatterns = [
    path("delete", views.delete_account, name="delete_account"),
    path("password/change/", views.ChangePassword.as_view(), name="account_change_password"),
    path("password/set/", views.SetPassword.as_view(), name="account_set_password"),
    path("2fa/recovery-codes/", views.readable_codes_only(view_recovery_codes), name="mfa_view_recovery_codes"),
    path(
        "2fa/recovery-codes/download/",
        views.readable_codes_only(download_recovery_codes),
        name="mfa_download_recovery_codes",
    ),
    path("deleted", views.account_deleted, name="account_deleted"),
]
