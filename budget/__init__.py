"""What fits into a prompt and what it costs: token counting, plans, receipts, spending limits and their pages.

Enter at `planning.fit.fit`, `receipts.record.finalize_receipt`, `spending.limits.check_limits` and
`counting.calibration.estimate_for`. Layers, top first: views → pages → receipts → counting → planning, spending.

May import accounts and recall; views also chat and memory. Never imports memory or chat elsewhere.
"""
