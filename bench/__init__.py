"""Benches: commands that print figures (medians, p95, ratios side by side in one run), one folder per subject.

Enter at a folder's command, such as `python -m bench.turn`; `results.py` compares recorded ratios.

May import every app. Never runs outside a throw-away database (`own_database.py`), and never asserts a time: machines
are noisy.
"""

from recall.db.acting import act_by_default

act_by_default("command")  # in this process; servers that it starts act for those who ask
