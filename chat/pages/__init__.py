"""Template contexts of the chat and settings pages: what a page shows, and in which order.

Entry: `message_window.build_messages_context`, `palette.find_options`, `settings.sections`.
May import every package of `chat` and of the apps below; only views, API and template tags import it.
Never: rows of another user, or a query per row of a list.
"""
