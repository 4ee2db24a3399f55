"""What all API operations share: field types, pagination, problems, and the description with its reference page.

Enter at `problems.ProblemError`, `pagination.paginate` and `schema.complete_schema`.

May import recall.text. Never knows an operation: the apps above define them, `recall/api.py` collects them.
"""
