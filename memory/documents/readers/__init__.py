"""Readers: the text of a file as Markdown, or one sentence on why it can't be read.

Enter at `isolated.read_file`; `formats.recognize` checks the kind of file.

May import nothing else of Recall. Never imports Django: a file is read in a process of its own, with limited time and
memory and without Recall's secrets.
"""
