"""What does the model get of an image? Its pixels, as large as the model sees them, and nothing else of the file.

Turned as the camera was held, without metadata (place, device, thumbnails), the first picture of an animation. Images
from outside are decoded in a process of their own (`python -m chat.attachments.images`: an image on standard input,
a line of JSON and the new one on standard output): bounded in memory and time, and without Recall's secrets.
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
from memory.documents.readers.formats import NotReadable
from memory.documents.readers.isolated import BROKEN, ENVIRONMENT, ROOT, Ending

if TYPE_CHECKING:  # Pillow is loaded where an image is read: pages and commands start without it
    from PIL.Image import Image

MOST_PIXELS: Final = 50_000_000
"""The largest cameras of telephones; asked of the header, before anything is decoded. A bomb claims a billion."""
MOST_BYTES: Final = 1_000_000
"""Of the image as it is sent; see limits.MOST_IMAGES. The provider takes five times as many."""
THUMBNAIL: Final = 320
"""Pixels of the longer side: twice what the page shows, for dense screens."""
MEMORY: Final = 1 << 30
"""Bytes of the reading process; 50 million pixels with transparency took 420 MB."""
SECONDS: Final = 20

FORMATS: Final = ("PNG", "JPEG", "WEBP", "GIF")
BEGINNINGS: Final = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a")
"""WebP, which begins with another format's mark, is told apart in `is_image`."""
MEDIA_TYPES: Final = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}
QUALITIES: Final = (85, 70, 50)
SMALLER: Final = 0.7
"""Side by side, until it has at most MOST_BYTES."""
ORIENTATION: Final = 0x0112
"""EXIF's tag for how the camera was held."""
TURNS: Final = {
    2: "FLIP_LEFT_RIGHT",
    3: "ROTATE_180",
    4: "FLIP_TOP_BOTTOM",
    5: "TRANSPOSE",
    6: "ROTATE_270",
    7: "TRANSVERSE",
    8: "ROTATE_90",
}
"""Its values, and what sets them right."""

TOO_MANY_PIXELS: Final = (
    "This image has {width:,} × {height:,} pixels; {most:,} million in all are the limit. Make it smaller first."
)
TOO_SLOW: Final = f"This image could not be read within {SECONDS} seconds."
DAMAGED: Final = "This image is damaged, or is no image."


@dataclass(frozen=True, slots=True)
class Picture:
    """An image as it is sent."""

    media_type: str
    width: int
    height: int
    content: bytes


def is_image(content: bytes) -> bool:
    """Whether a file begins as one of the images that are taken."""
    return content.startswith(BEGINNINGS) or (content.startswith(b"RIFF") and content[8:12] == b"WEBP")


def read_apart(content: bytes) -> Picture:
    """`read`, in a process of its own.

    Raises:
        NotReadable: one sentence for the image's owner.
    """
    command = [sys.executable, "-m", "chat.attachments.images"]
    try:
        done = subprocess.run(  # noqa: S603 - our own module
            command, input=content, capture_output=True, timeout=SECONDS, env=ENVIRONMENT, cwd=ROOT, check=False
        )
    except subprocess.TimeoutExpired:
        raise NotReadable(TOO_SLOW) from None
    if done.returncode == Ending.NOT_READABLE:
        raise NotReadable(done.stdout.decode())
    if done.returncode != Ending.READ:
        raise NotReadable(BROKEN)
    head, _, made = done.stdout.partition(b"\n")
    return Picture(**json.loads(head), content=made)


def read(content: bytes) -> Picture:
    """The image as it is sent to the model.

    Raises:
        NotReadable: it has too many pixels, or cannot be decoded.
    """
    image = _opened(content)
    source = str(image.format)
    width, height = scaled(*image.size, HIGH)
    turn = TURNS.get(_orientation(image), "")
    try:
        image.draft("RGB", (width, height))  # a JPEG is decoded at a fraction of its size
        small = _plain(image)
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise NotReadable(DAMAGED) from error
    if small.size != (width, height):
        small = small.resize((width, height), _pillow().Resampling.LANCZOS)
    if turn:
        small = small.transpose(_pillow().Transpose[turn])
    return _within_bytes(small, source)


def thumbnail(content: bytes) -> bytes:
    """A small picture, as WebP, of an image that `read` made. An archive that was brought in may hold another.

    Raises:
        NotReadable: it is none of ours.
    """
    image = _opened(content)
    if max(image.size) > HIGH.longest_side:
        raise NotReadable(DAMAGED)
    try:
        image.thumbnail((THUMBNAIL, THUMBNAIL))
        return _encoded(_plain(image), "WEBP", quality=75)
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise NotReadable(DAMAGED) from error


def _pillow() -> Any:
    from PIL import Image  # late, see above

    return Image


def _opened(content: bytes) -> Image:
    """The image, verified and not decoded yet."""
    pillow = _pillow()
    pillow.MAX_IMAGE_PIXELS = None  # the limit below is lower, and is told in a sentence
    try:
        found = pillow.open(io.BytesIO(content), formats=FORMATS)
        if found.width * found.height > MOST_PIXELS:
            most = MOST_PIXELS // 1_000_000
            raise NotReadable(TOO_MANY_PIXELS.format(width=found.width, height=found.height, most=most))
        found.verify()
        image: Image = pillow.open(io.BytesIO(content), formats=FORMATS)  # `verify` uses it up
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise NotReadable(DAMAGED) from error
    return image


def _orientation(image: Image) -> int:
    try:
        return int(image.getexif().get(ORIENTATION, 1))
    except (ValueError, TypeError, SyntaxError, OSError, KeyError):  # metadata may be broken where the pixels are not
        return 1


def _plain(image: Image) -> Image:
    """Decoded, in colours that every format has."""
    if image.mode.startswith("I;16"):
        image = image.point(lambda level: level / 256).convert("L")
    has_alpha = image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info
    return image.convert("RGBA" if has_alpha else "RGB")


def _within_bytes(image: Image, source: str) -> Picture:
    """Encoded: without loss where it came so and stays small, else as much poorer as it has to be."""
    lossy = "WEBP" if image.mode == "RGBA" else "JPEG"
    while True:
        for format_, options in _attempts(source, lossy):
            made = _encoded(image, format_, **options)
            if len(made) <= MOST_BYTES:
                return Picture(MEDIA_TYPES[format_], *image.size, made)
        smaller = max(1, round(image.width * SMALLER)), max(1, round(image.height * SMALLER))
        image = image.resize(smaller, _pillow().Resampling.LANCZOS)


def _attempts(source: str, lossy: str) -> Iterator[tuple[str, dict[str, int]]]:
    if source in ("PNG", "GIF"):
        yield "PNG", {}
    yield from ((lossy, {"quality": quality}) for quality in QUALITIES)


def _encoded(image: Image, format_: str, **options: int) -> bytes:
    image.info = {}  # profiles and comments, which some formats would write again
    out = io.BytesIO()
    image.save(out, format_, **options)
    return out.getvalue()


def main() -> Ending:
    """Read one image within the limits."""
    for what, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CPU, SECONDS)):
        try:
            resource.setrlimit(what, (most, most))
        except (ValueError, OSError):  # macOS knows no limit of memory
            continue
    try:
        made = read(sys.stdin.buffer.read())
    except NotReadable as refusal:
        sys.stdout.buffer.write(str(refusal).encode())
        return Ending.NOT_READABLE
    except MemoryError:
        return Ending.NO_MEMORY
    head = {"media_type": made.media_type, "width": made.width, "height": made.height}
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + made.content)
    return Ending.READ


if __name__ == "__main__":
    sys.exit(main())
