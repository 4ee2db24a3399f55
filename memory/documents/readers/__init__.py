"""What does a file say? Its text as Markdown, or one sentence on why it cannot be read.

Nothing here knows the database or Django: files from outside are read in a process of their own (`apart.py`), which
has a little memory, a little time, and none of Recall's secrets.
"""

from memory.documents.readers.formats import Format, NotReadable, recognise
from memory.documents.readers.isolated import read_file

__all__ = ["Format", "NotReadable", "read_file", "recognise"]
