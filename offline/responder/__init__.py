"""The rule-based responder: answers from the memories in the request, calls tools, and says that it is a demo.

Enter at `respond.respond` (conversation) and `respond.structured` (structured output). `patterns.py` recognizes what a
message asks for, `matching.py` finds the sentence that answers, `grammar.py` changes its person, `wording.py` has the
lines. May import `offline.protocol` and `offline.search`; never keeps anything between requests.
"""
