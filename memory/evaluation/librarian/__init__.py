"""Librarian evaluation: how many labeled facts an engine finds, and how many of its statements are right.

Enter at `run.evaluate_messages`; `table.render` prints it. `sample.py` draws proposals for a human to check.
`updates.py` counts what later messages change of known facts.

May import the librarian and what it imports. Never stores a fact: it counts proposals.
"""
