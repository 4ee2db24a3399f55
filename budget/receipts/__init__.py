"""Receipts: the record of each turn's prompt, usage and cost, its use afterwards, retention and erasure.

Enter at `record.draft_receipt`, `record.finalize_receipt`, `memory_use.load_placement` and `retention.remove_cut`.

May import counting, planning and spending. Never deletes a receipt: forgetting and retention remove texts, not figures.
"""
