"""Benches: commands that print figures (medians, p95, ratios side by side in one run), one folder per subject.

Each runs in a throw-away database (`own_database.py`) and asserts no time: machines are noisy.
"""
