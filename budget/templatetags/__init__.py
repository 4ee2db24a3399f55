"""Template filters of the budget: tokens, cost, shares and cut rules in words.

Enter at `figures`.

May import budget below its pages, and `recall.figures`. Never reads the database.
"""
