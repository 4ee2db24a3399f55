"""The tagger: a small network that marks in a message what someone states of themselves, in whatever words.

Enter at `tags.py`; `network.py` is the network, `training.py` fits it (`manage.py train-tagger`) to marked messages.
Pure: text in, tags out. May import embeddings' files and memory's text; never decides, proposes or stores.
"""
