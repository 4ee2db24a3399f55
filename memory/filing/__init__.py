"""Where is what the librarian learned written down? In documents, as lines that a person may change or take out."""
