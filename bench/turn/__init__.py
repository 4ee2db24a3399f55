"""A turn: first token and turns a second, beside a bare relay. `python -m bench.turn`."""
