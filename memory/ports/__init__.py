"""What memory needs from the apps above it, as protocols: conversations to read, prices, data to forget, and
where documents moved.

Chat registers in `AppConfig.ready` what loads the implementations. Enter at `source.get_source`, `spending`
and `forgettable`. May import models and text; never imports chat or budget.
"""
