"""What the model gets to see: load the inputs, measure, fit, render.

Enter: `assemble.assemble_prompt`, `preflight.ensure_fits`, `replay.replay`. All reads are in `inputs.py` and
`pinned_profile.py`; `measure.py`, `assemble.py` and `request.py` are pure.
Imports: chat's tools, projects, messages and attachments; memory's retrieval; budget. Never turns.
Never: change the bytes of the cached prefix between two turns, or cut a system prompt, a boundary or the question.
"""
