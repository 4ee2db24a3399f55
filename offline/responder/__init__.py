"""The rule-based responder: answers from the memories in the request, calls tools, and says that it is a demo.

Enter at `respond.respond` (conversation) and `respond.structured` (structured output).
May import `offline.protocol` and `offline.search`; never keeps anything between requests.
"""
