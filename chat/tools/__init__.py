"""The tools the model can call, one module each.

Enter at `registry.py` (which tools are offered, `run_tool`, `history_line`) and `tool.py` (the `Tool` dataclass). To
add a tool, write its module, list it in `registry.py` and give it labels in `chat/messages/activity.py`. May import
chat's ingest, compaction, conversations, projects and messages, and memory; never prompt or turns. Never trusts what a
tool returns. A tool only reads, except `remember`, which proposes, and `update_task`.
"""
