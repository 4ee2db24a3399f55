"""A turn: first token and turns per second, next to a bare relay. `python -m bench.turn`."""
