"""Images for the model: decoded, turned upright, scaled to what the model sees, without metadata.

Only the first frame of an animation is used. Images from outside are decoded in a separate process
(`python -m chat.attachments.images`: an image on standard input, a JSON line and the new image on standard output),
bounded in memory and time, without Recall's secrets.
"""

from __future__ import annotations

import io
import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from budget.counting.images import HIGH, scaled
from memory.documents.readers.formats import NotReadableError
from memory.documents.readers.isolated import BROKEN, ENVIRONMENT, ROOT, Ending

if TYPE_CHECKING:  # Pillow is loaded when an image is read: pages and commands start without it
    from PIL.Image import Image

MAX_PIXELS: Final = 50_000_000
"""Enough for the largest phone cameras; checked in the header, before decoding. A bomb claims a billion."""
MAX_IMAGE_BYTES: Final = 1_000_000
"""Bytes of the image as sent; see limits.MAX_IMAGES. The provider accepts five times as many."""
THUMBNAIL_PIXELS: Final = 320
"""Pixels of the longer side: twice what the page shows, for high-density screens."""
MAX_MEMORY_BYTES: Final = 1 << 30
"""Bytes of the decoding process; 50 million pixels with transparency take 420 MB."""
TIMEOUT_SECONDS: Final = 20

FORMATS: Final = ("PNG", "JPEG", "WEBP", "GIF")
SIGNATURES: Final = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a")
"""WebP, whose signature starts like another format, is recognized in `is_image`."""
MEDIA_TYPES: Final = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}
QUALITIES: Final = (85, 70, 50)
SHRINK_FACTOR: Final = 0.7
"""Each step shrinks both sides by this, until it has at most MAX_IMAGE_BYTES."""
ORIENTATION_TAG: Final = 0x0112
"""EXIF tag for how the camera was held."""
TRANSPOSES: Final = {
    2: "FLIP_LEFT_RIGHT",
    3: "ROTATE_180",
    4: "FLIP_TOP_BOTTOM",
    5: "TRANSPOSE",
    6: "ROTATE_270",
    7: "TRANSVERSE",
    8: "ROTATE_90",
}
"""Value of that tag → the transpose that corrects it."""

TOO_MANY_PIXELS: Final = "This image is too large: {width:,} × {height:,} pixels. The limit is {most:,} million pixels."
TOO_SLOW: Final = f"This image couldn't be read within {TIMEOUT_SECONDS} seconds."
DAMAGED: Final = "This file is damaged or not an image."


@dataclass(frozen=True, slots=True)
class Picture:
    """An image as sent to the model."""

    media_type: str
    width: int
    height: int
    content: bytes


def is_image(content: bytes) -> bool:
    """Whether a file starts like an accepted image."""
    return content.startswith(SIGNATURES) or (content.startswith(b"RIFF") and content[8:12] == b"WEBP")


def read_isolated(content: bytes) -> Picture:
    """`read`, in a separate process.

    Raises:
        NotReadableError: one sentence for the owner.
    """
    command = [sys.executable, "-m", "chat.attachments.images"]
    try:
        done = subprocess.run(  # noqa: S603 - our own module
            command, input=content, capture_output=True, timeout=TIMEOUT_SECONDS, env=ENVIRONMENT, cwd=ROOT, check=False
        )
    except subprocess.TimeoutExpired:
        raise NotReadableError(TOO_SLOW) from None
    if done.returncode == Ending.NOT_READABLE:
        raise NotReadableError(done.stdout.decode())
    if done.returncode != Ending.READ:
        raise NotReadableError(BROKEN)
    head, _, made = done.stdout.partition(b"\n")
    return Picture(**json.loads(head), content=made)


def read(content: bytes) -> Picture:
    """The image as sent to the model.

    Raises:
        NotReadableError: it has too many pixels or can't be decoded.
    """
    image = _open(content)
    source = str(image.format)
    width, height = scaled(*image.size, HIGH)
    turn = TRANSPOSES.get(_orientation(image), "")
    try:
        image.draft("RGB", (width, height))  # a JPEG is decoded at a fraction of its size
        small = _to_plain_colors(image)
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise NotReadableError(DAMAGED) from error
    if small.size != (width, height):
        small = small.resize((width, height), _pillow().Resampling.LANCZOS)
    if turn:
        small = small.transpose(_pillow().Transpose[turn])
    return _encode_within_limit(small, source)


def thumbnail(content: bytes) -> bytes:
    """A small WebP of an image that `read` made; a restored archive may contain another.

    Raises:
        NotReadableError: it isn't such an image.
    """
    image = _open(content)
    if max(image.size) > HIGH.longest_side:
        raise NotReadableError(DAMAGED)
    try:
        image.thumbnail((THUMBNAIL_PIXELS, THUMBNAIL_PIXELS))
        return _encode(_to_plain_colors(image), "WEBP", quality=75)
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise NotReadableError(DAMAGED) from error


def _pillow() -> Any:
    from PIL import Image  # imported late, see above

    return Image


def _open(content: bytes) -> Image:
    """The image, verified and not yet decoded."""
    pillow = _pillow()
    pillow.MAX_IMAGE_PIXELS = None  # the limit below is lower and gives a sentence
    try:
        found = pillow.open(io.BytesIO(content), formats=FORMATS)
        if found.width * found.height > MAX_PIXELS:
            most = MAX_PIXELS // 1_000_000
            raise NotReadableError(TOO_MANY_PIXELS.format(width=found.width, height=found.height, most=most))
        found.verify()
        image: Image = pillow.open(io.BytesIO(content), formats=FORMATS)  # `verify` consumes it
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise NotReadableError(DAMAGED) from error
    return image


def _orientation(image: Image) -> int:
    try:
        return int(image.getexif().get(ORIENTATION_TAG, 1))
    # the metadata may be broken although the pixels are fine
    except (ValueError, TypeError, SyntaxError, OSError, KeyError):
        return 1


def _to_plain_colors(image: Image) -> Image:
    """The image decoded, in colors that every format supports."""
    if image.mode.startswith("I;16"):
        image = image.point(lambda level: level / 256).convert("L")
    has_alpha = image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info
    return image.convert("RGBA" if has_alpha else "RGB")


def _encode_within_limit(image: Image, source: str) -> Picture:
    """Encode it: lossless if the source was and the result stays small, else with as little loss as possible."""
    lossy = "WEBP" if image.mode == "RGBA" else "JPEG"
    while True:
        for format_, options in _attempts(source, lossy):
            made = _encode(image, format_, **options)
            if len(made) <= MAX_IMAGE_BYTES:
                return Picture(MEDIA_TYPES[format_], *image.size, made)
        smaller = max(1, round(image.width * SHRINK_FACTOR)), max(1, round(image.height * SHRINK_FACTOR))
        image = image.resize(smaller, _pillow().Resampling.LANCZOS)


def _attempts(source: str, lossy: str) -> Iterator[tuple[str, dict[str, int]]]:
    if source in ("PNG", "GIF"):
        yield "PNG", {}
    yield from ((lossy, {"quality": quality}) for quality in QUALITIES)


def _encode(image: Image, format_: str, **options: int) -> bytes:
    image.info = {}  # drops profiles and comments, which some formats would write
    out = io.BytesIO()
    image.save(out, format_, **options)
    return out.getvalue()


def main() -> Ending:
    """Read one image within the limits."""
    for what, most in ((resource.RLIMIT_AS, MAX_MEMORY_BYTES), (resource.RLIMIT_CPU, TIMEOUT_SECONDS)):
        try:
            resource.setrlimit(what, (most, most))
        except (ValueError, OSError):  # macOS has no memory limit
            continue
    try:
        made = read(sys.stdin.buffer.read())
    except NotReadableError as refusal:
        sys.stdout.buffer.write(str(refusal).encode())
        return Ending.NOT_READABLE
    except MemoryError:
        return Ending.NO_MEMORY
    head = {"media_type": made.media_type, "width": made.width, "height": made.height}
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + made.content)
    return Ending.READ


if __name__ == "__main__":
    sys.exit(main())
