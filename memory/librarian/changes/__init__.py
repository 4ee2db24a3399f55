"""Changes of known facts: what a message ends, takes back, replaces or renames, found from the facts themselves.

Enter at `learned.py`, which every engine uses: what the updates network reads, beside what `corrections.py` reads by
form; `fact_words.py` says which words name a fact.
Pure. May import the engines' protocol (`engine.py`), memory's facts and text; never decides or stores.
"""
