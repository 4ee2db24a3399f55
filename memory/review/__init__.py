"""Review: users' decisions on proposals and facts, their undo, many at once, several into one, and the evidence.

Enter at `decisions.accept`, `decisions.correct`, `bulk_review.decide_batch`, `merge.merge` and `undo.undo`; pages show
`evidence.build_fact_views`.

May import documents, for the lines that follow a fact, and facts. Never changes a fact without a record to undo it by.
"""
