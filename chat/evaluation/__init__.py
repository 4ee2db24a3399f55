"""Evaluation of the whole product: simulated users talk, wait for the jobs and ask; answers and prompts are judged.

Enter at `scenarios.run_scenario`, `matrix.run_case`, `scope.run_scope_case` and `deletion.run_kind`; `scorecard.render`
writes the table. Runs in its own installation (`throwaway.py`) and never touches a real user's data. May import
anything in chat.
"""
