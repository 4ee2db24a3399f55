"""What the budget's pages show: figures and shapes computed here, layout in `templates/budget/`.

Enter at `context_panel`, `live`, `plan`, `limits` and `trends`, one module per part; `charts` draws for them.

May import every other package of budget but views. Never reads a request or renders a template.
"""
