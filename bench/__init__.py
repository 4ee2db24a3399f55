"""Benches: commands that print figures (medians, p95, ratios side by side in one run), one folder per subject.

Each runs in a throw-away database (`own_database.py`) and asserts no time: machines are noisy.
"""

from recall.db.acting import act_by_default

act_by_default("command")  # in this process; servers that it starts act for those who ask
