"""URLs of memory's pages."""

from django.urls import path

from memory.models import ReviewAction
from memory.views import facts, forgetting, knowledge, review, rules

app_name = "memory"

urlpatterns = [
    path("about", knowledge.about_you, name="about"),
    path("boundaries", knowledge.add_boundary, name="add_boundary"),
    path("boundaries/<int:pk>", knowledge.save_boundary, name="save_boundary"),
    path("boundaries/<int:pk>/remove", knowledge.remove_boundary, name="remove_boundary"),
    path("facts/<int:pk>", facts.fact, name="fact"),
    path("facts/<int:pk>/correct", facts.correct, name="correct"),
    path("facts/<int:pk>/link", facts.link_fact, name="link"),
    path("facts/<int:pk>/unlink/<int:other>", facts.unlink_fact, name="unlink"),
    path("why/<int:message_id>/<path:ref>", facts.why_recalled, name="why"),
    path("review", review.review_queue, name="review"),
    path("review/together", review.decide_selected, name="together"),
    path("review/merge", review.merge_facts, name="merge"),
    path("review/<int:pk>/accept", review.decide, {"verb": ReviewAction.Verb.ACCEPT}, name="accept"),
    path("review/<int:pk>/edit", review.decide, {"verb": ReviewAction.Verb.EDIT}, name="edit"),
    path("review/<int:pk>/reject", review.decide, {"verb": ReviewAction.Verb.REJECT}, name="reject"),
    path("review/<int:pk>/keep-both", review.decide, {"verb": ReviewAction.Verb.KEEP_BOTH}, name="keep_both"),
    path("review/<int:pk>/unrelated", review.decide, {"verb": ReviewAction.Verb.UNRELATED}, name="unrelated"),
    path("review/<int:pk>/rule", review.rule_for, name="rule_for"),
    path("review/actions/<int:pk>/undo", review.undo, name="undo"),
    path("documents", knowledge.document, name="documents"),
    path("documents/<path:path>", knowledge.document, name="document"),
    path("new", knowledge.new_document, name="new_document"),
    path("save/<int:pk>", knowledge.save_document, name="save_document"),
    path("move", knowledge.move, name="move"),
    path("tags", knowledge.tag, name="tags"),
    path("remove", knowledge.remove, name="remove"),
    path("restore", knowledge.restore, name="restore"),
    path("uploads", knowledge.upload, name="uploads"),
    path("uploads/<int:pk>/again", knowledge.retry_upload, name="read_upload_again"),
    path("versions/<int:pk>", knowledge.versions, name="versions"),
    path("versions/<int:pk>/<int:number>", knowledge.versions, name="version"),
    path("versions/<int:pk>/restore", knowledge.revert_document, name="revert"),
    path("timeline", knowledge.episodes, name="timeline"),
    path("timeline/<uuid:pk>", knowledge.story, name="story"),
    path("rules", rules.rules_page, name="rules"),
    path("clean-up", rules.start_consolidation, name="clean_up"),
    path("clean-up/reports", rules.consolidation_reports, name="clean_ups"),
    path("history", review.decision_list, name="history"),
    path("time-travel", knowledge.time_travel, name="time_travel"),
    path("access-log", review.access_log_page, name="access_log"),
    path("forget", forgetting.forgetting, name="forget"),
    path("forget/topic", forgetting.topic, name="forget_topic"),
    path("forgotten", forgetting.forgotten, name="forgotten"),
    path("forgotten/check", forgetting.check_again, name="check_forgotten"),
    path("forgotten/<int:pk>/allow", forgetting.allow_again, name="allow_again"),
]
