"""What the model gets to see: load the inputs, measure, fit, render.

Enter at `assemble.assemble_prompt`, `preflight.ensure_fits` and `replay.replay`. All reads are in `inputs.py` and
`pinned_profile.py`; `measure.py`, `assemble.py` and `request.py` are pure. May import chat's tools, projects, messages
and attachments, memory's retrieval, and budget; never turns. Never changes the bytes of the cached prefix between two
turns, and never cuts a system prompt, a boundary or the question.
"""
