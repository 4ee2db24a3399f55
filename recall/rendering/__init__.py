"""Text to safe HTML: Markdown of answers and documents, formulas as MathML, and the pages of `docs/`.

Enter at `markdown.render` and `docs_pages.docs`.

May import Django. Never lets raw HTML, scripts or remote images through, and never reads the database.
"""
