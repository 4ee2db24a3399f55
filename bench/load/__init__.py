"""Many sockets that talk: acceptance, first token, losses, memory.

Enter at `python -m bench.load`.

May import every app and `bench`. Never connects to an installation in use: it starts one of its own.
"""
