"""Changes of known facts: what a message ends, takes back, replaces or renames, found from the facts themselves.

Enter at `corrections.py`, which every engine uses. `attribute_changes.py` reads changes that don't name the old value,
`fact_words.py` says which words name a fact.
Pure. May import the engines' protocol (`engine.py`), memory's facts and text; never decides or stores.
"""
