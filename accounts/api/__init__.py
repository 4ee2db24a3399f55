"""Who may call the API, and how often: keys, scopes, rate limit, idempotency keys.

Enter at `auth.require_scope`, which every operation declares, `middleware.api_middleware`, which wraps every operation,
and `keys.create_key`.

May import accounts.models, accounts.reauthentication and recall. Never knows an operation of the apps above.
"""
