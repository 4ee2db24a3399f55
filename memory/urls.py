"""Addresses of memory's pages."""

from __future__ import annotations

from django.urls import path

from memory import views
from memory.models import ReviewAction

app_name = "memory"

urlpatterns = [
    path("", views.home, name="home"),
    path("documents", views.document, name="documents"),
    path("documents/<path:path>", views.document, name="document"),
    path("new", views.new_document, name="new_document"),
    path("move", views.move, name="move"),
    path("tags", views.tag, name="tags"),
    path("remove", views.remove, name="remove"),
    path("uploads", views.upload, name="uploads"),
    path("uploads/<int:pk>/again", views.read_again, name="read_upload_again"),
    path("episodes", views.episodes, name="episodes"),
    path("episodes/<uuid:pk>", views.story, name="story"),
    path("facts/<int:pk>", views.fact, name="fact"),
    path("review", views.review_queue, name="review"),
    path("review/<int:pk>/accept", views.decide, {"verb": ReviewAction.Verb.ACCEPT}, name="accept"),
    path("review/<int:pk>/edit", views.decide, {"verb": ReviewAction.Verb.EDIT}, name="edit"),
    path("review/<int:pk>/reject", views.decide, {"verb": ReviewAction.Verb.REJECT}, name="reject"),
    path("review/actions/<int:pk>/undo", views.undo, name="undo"),
    path("profile", views.profile_page, name="profile"),
    path("profile/documents/<int:pk>", views.save_document, name="save_document"),
    path("profile/documents/<int:pk>/history", views.history, name="history"),
    path("profile/documents/<int:pk>/history/<int:number>", views.history, name="version"),
    path("profile/documents/<int:pk>/revert", views.revert_document, name="revert"),
    path("profile/boundaries", views.add_boundary, name="add_boundary"),
    path("profile/boundaries/<int:pk>", views.save_boundary, name="save_boundary"),
    path("profile/boundaries/<int:pk>/remove", views.remove_boundary, name="remove_boundary"),
]
