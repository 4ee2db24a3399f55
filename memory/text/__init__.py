"""Pure functions over text: fact lines in documents, keywords, and the user's own words in a message.

Enter at `user_text.mask_foreign_text` and `fact_lines.sync_fact_lines`.
Imports nothing of memory but its value types; never reads the database.
"""
