"""A turn: first token and answers per second, next to a bare relay, and the statements it sends.

Enter at `python -m bench.turn` and `python -m bench.turn.statements`; `relay.py` is the baseline.

May import every app and `bench`. Never calls a real model: the offline server answers.
"""
