"""How does everything a person has leave as one file, and come in again elsewhere, without loss?

    tables.py       which tables, which of their columns, and why not the others
    values.py       how is a value written, and read again?
    numbers.py      what names another row: columns, references within JSON, marks in texts
    writing.py      the archive, as a stream of bytes: rows as JSON, and the same for people to read
    readable.py     conversations, documents and facts as Markdown
    bringing_in.py  an archive into an empty account: all of it, or nothing

docs/import-export.md describes the file for other programs.
"""
