"""File readers: a file's text as Markdown, or one sentence on why it can't be read.

Enter at `isolated.read_file`: files are read in a separate process with little memory and time and none of Recall's
secrets. Nothing here knows the database or Django.
"""

from memory.documents.readers.formats import Format, NotReadable, recognise
from memory.documents.readers.isolated import read_file

__all__ = ["Format", "NotReadable", "read_file", "recognise"]
