"""The process: start-up time, and imports of large files.

Enter at `python -m bench.process.startup` and `python -m bench.process.imports`.

May import every app and `bench`. Never touches the data of an installation: each run has an empty folder or database.
"""
