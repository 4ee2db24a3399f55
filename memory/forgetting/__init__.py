"""How is something forgotten, and with it all that was made of it? A dry run, one transaction, a receipt.

targets     what a person asks to be forgotten
finding     what that reaches: everything that rests on it or carried it
doing       the dry run, and the deed
sweeping    the last look, over every column of every row of the person
rewriting   summaries are written anew from what is left
proving     the retrieval is asked again, and pages are given back to the disk
epoch       how a job that was running notices
"""
