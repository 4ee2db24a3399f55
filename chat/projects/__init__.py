"""Projects (a folder of the knowledge base with instructions) and roles (instructions alone).

Enter at `projects.create`, `roles.create` and `project_scope.may_read`. `undo_tokens.py` signs what a page needs to
undo a deletion.
May import `chat.models` and `memory.documents`.
Never deletes documents or conversations: they outlive their project.
"""
