"""Addresses of memory's pages."""

from __future__ import annotations

from django.urls import path

from memory import fact_views, forget_views, review_views, tidy_views, views
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
    path("restore", views.restore, name="restore"),
    path("uploads", views.upload, name="uploads"),
    path("uploads/<int:pk>/again", views.read_again, name="read_upload_again"),
    path("episodes", views.episodes, name="episodes"),
    path("episodes/<uuid:pk>", views.story, name="story"),
    path("facts/<int:pk>", fact_views.fact, name="fact"),
    path("facts/<int:pk>/correct", fact_views.correct, name="correct"),
    path("why/<int:message_id>/<path:ref>", fact_views.why_recalled, name="why"),
    path("review", review_views.review_queue, name="review"),
    path("review/together", review_views.together, name="together"),
    path("review/merge", review_views.merging, name="merge"),
    path("review/decisions", review_views.decision_list, name="decisions"),
    path("review/<int:pk>/accept", review_views.decide, {"verb": ReviewAction.Verb.ACCEPT}, name="accept"),
    path("review/<int:pk>/edit", review_views.decide, {"verb": ReviewAction.Verb.EDIT}, name="edit"),
    path("review/<int:pk>/reject", review_views.decide, {"verb": ReviewAction.Verb.REJECT}, name="reject"),
    path("review/<int:pk>/keep-both", review_views.decide, {"verb": ReviewAction.Verb.KEEP_BOTH}, name="keep_both"),
    path("review/<int:pk>/unrelated", review_views.decide, {"verb": ReviewAction.Verb.UNRELATED}, name="unrelated"),
    path("review/<int:pk>/rule", review_views.rule_for, name="rule_for"),
    path("review/actions/<int:pk>/undo", review_views.undo, name="undo"),
    path("policies", review_views.policy_page, name="policies"),
    path("looks", review_views.looks, name="looks"),
    path("forget", forget_views.forgetting, name="forget"),
    path("forget/topic", forget_views.topic, name="forget_topic"),
    path("forgotten", forget_views.forgotten, name="forgotten"),
    path("forgotten/check", forget_views.check_again, name="check_forgotten"),
    path("tidy", tidy_views.tidy, name="tidy"),
    path("tidied", tidy_views.tidied_lately, name="tidied"),
    path("profile", views.profile_page, name="profile"),
    path("profile/documents/<int:pk>", views.save_document, name="save_document"),
    path("profile/documents/<int:pk>/history", views.history, name="history"),
    path("profile/documents/<int:pk>/history/<int:number>", views.history, name="version"),
    path("profile/documents/<int:pk>/revert", views.revert_document, name="revert"),
    path("profile/boundaries", views.add_boundary, name="add_boundary"),
    path("profile/boundaries/<int:pk>", views.save_boundary, name="save_boundary"),
    path("profile/boundaries/<int:pk>/remove", views.remove_boundary, name="remove_boundary"),
]
