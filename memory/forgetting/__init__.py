"""Forgetting: permanently removes a memory and everything derived from it, then checks that nothing is left.

Enter at `execute.preview` (the dry run) and `execute.forget`; `targets.Target` names what to forget. `find` collects
what depends on it, `erase` and `residue` remove it, `rewrite` regenerates summaries, `verify` searches again.

May import librarian, documents, facts, retrieval and everything below; the apps above take part through
`ports.forgettable`. Never stores what was forgotten, only counts.
"""
