"""What memory needs from the apps above it, as protocols: conversations to read, prices, and data to forget.

Chat and budget register their implementations in `AppConfig.ready`. Enter at `source.get_source`, `spending`
and `forgettable`. May import models and text; never imports chat or budget.
"""
