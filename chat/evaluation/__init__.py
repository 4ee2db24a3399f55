"""Evaluation of the whole product: simulated users talk, wait for the jobs and ask; answers and prompts are judged.

Enter by `scenarios.run_scenario`, `matrix.run_case`, `scope.run_scope_case` and `deletion.run_kind`;
`scorecard.render` writes the table.
Runs in an installation of its own (`throwaway.py`) and never touches a real user's data. May import anything in chat.
"""
