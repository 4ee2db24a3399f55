"""The tagger: a small network that marks in a message what someone states of themselves, in whatever words.

Enter at `tags.py` (reads) or `marked.py` (what it learns from, `manage.py train-network tagger`).
Pure: text in, tags out. May import the network and memory's text; never decides, proposes or stores.
"""
