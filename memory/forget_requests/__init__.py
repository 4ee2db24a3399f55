"""Requests to forget: what a user's message asks to forget, in whatever words, read by a small network.

Enter at `requests.find_request`; the network learns from `labeled.py` (`manage.py train-network forget-requests`).

May import the network and text. Never reads the database, and never decides what a topic means:
`memory/forgetting/select.py` does.
"""
