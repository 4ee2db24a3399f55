"""Requests and responses of every app: body and origin limits, page compression, moved addresses, template context.

Enter at `request_limits.BodySizeLimitMiddleware`, `compression.PageCompressionMiddleware` and `moved_addresses.MOVED`.

May import Django and recall.openapi. Never knows a page of an app, but by the name of its address.
"""
