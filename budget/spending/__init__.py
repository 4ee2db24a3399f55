"""Money and usage: prices per model, daily usage counters, and limits.

Enter at `limits.check_limits`, `usage.add_receipt` and `prices.price_for`.

May import budget.models, accounts and recall.db. Never looks into a receipt's items.
"""
