"""Finds the files that contain a text, among all files that Recall writes."""

from pathlib import Path

from django.conf import settings


def files_with(*texts: str, postgres: Path) -> list[Path]:
    """Files below `VAR_DIR`, except PostgreSQL's own, that contain one of the texts."""
    wanted = [form.encode() for text in texts for form in (text, text.lower(), text.title())]
    files = [path for path in Path(settings.VAR_DIR).rglob("*") if path.is_file() and postgres not in path.parents]
    return [path for path in files if any(text in path.read_bytes() for text in wanted)]
