"""Template contexts of the chat and settings pages: what a page shows, and in which order.

Enter at `message_window.build_messages_context`, `palette.find_options` and `settings.sections`. May import every
package of `chat` and of the apps below; only views, API and template tags import it. Never reads rows of another user,
and never runs a query per row of a list.
"""
