"""One turn, from an accepted message to a saved answer.

Enter and read in this order: `start.accept`, `intake` (exactly once), `run.run_turn`, `agent_loop.run_agent_loop`,
`finish.finish_turn`. `live` has the running turns of this process; `backend` and `temporary` the two kinds of turn.
Imports: every room of chat below (prompt, tools, ingest, compaction, conversations, messages), memory and budget.
Never: hold a database connection while the model writes, or lose an accepted message.
"""
