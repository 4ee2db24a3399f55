"""What the budget's pages show: figures and shapes computed here, layout in `templates/budget/`.

One module per part: context panel, live status, plan form, limits form, trends, charts.

May import every other package of budget but views. Never reads a request or renders a template.
"""
