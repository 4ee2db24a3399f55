"""Many sockets that talk: acceptance, first token, losses, memory. `python -m bench.load`."""
