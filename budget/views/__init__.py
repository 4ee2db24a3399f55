"""HTTP views of the budget: the usage pages with their forms, and the receipt pages of one answer.

Enter at `usage.home` and `receipts.receipt`; `budget/urls.py` lists them all.

Views may import memory and chat to show labels and questions. Never imported but by `budget/urls.py`.
"""
