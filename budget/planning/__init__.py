"""Budget plans: sections and ceilings, fitting a prompt into a plan, preflight checks and the what-if preview.

Enter at `fit.fit` (with `PRUNING_ORDER`), `user_plan.plan_for`, `preflight.check_estimate` and `what_if.preview`.

`fit`, `history_cut`, `items` and `preflight` are pure. May import budget.models. Never sends a request.
"""
