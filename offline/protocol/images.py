"""Images in base64 blocks: their real type, and their tokens by size."""

import base64
import io
import math

from PIL import Image

PATCH = 28  # the provider's rule: one token for each square of 28 pixels, counted by whole squares
MAX_SIDE = 2_576  # pixels; larger ones are scaled down first. All models here are in the high-resolution tier.
MAX_IMAGE_TOKENS = 4_784
MAX_BYTES = 5 * 1024 * 1024  # of one image, decoded
MAX_PIXELS_A_SIDE = 8_000
MANY = 20  # images in one request; with more, each must be smaller
MAX_PIXELS_A_SIDE_OF_MANY = 2_000
MAX_IMAGES = 600  # per request; 100 if the window has 200,000 tokens, which no model here has
UNKNOWN_IMAGE_TOKENS = MAX_IMAGE_TOKENS  # an image by URL or file id, whose size isn't known here
SIGNATURES = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}
Image.MAX_IMAGE_PIXELS = None  # nothing is decoded


def decode(data: str) -> bytes | None:
    """The bytes of a base64 text, or None if it isn't base64."""
    try:
        return base64.b64decode(data, validate=True)
    except ValueError:  # binascii.Error, or letters outside ASCII
        return None


def media_type(raw: bytes) -> str | None:
    """The media type that the first bytes show, or None."""
    return next((kind for kind, starts in SIGNATURES.items() if raw.startswith(starts)), None)


def image_tokens(raw: bytes) -> int:
    """Tokens of an image by its width and height; the maximum if the size can't be read."""
    size = dimensions(raw)
    if size is None:
        return UNKNOWN_IMAGE_TOKENS
    width, height = max(1, size[0]), max(1, size[1])
    side = max(width, height)
    while not _fits(*_at(side, width, height)):  # pixel by pixel from a first guess, which is never too small
        side = min(side - 1, math.ceil(_first_guess(width, height))) if side == max(width, height) else side - 1
    columns, rows = _grid(*_at(side, width, height))
    return columns * rows


def _first_guess(width: int, height: int) -> float:
    """A longer side that is at least as long as the right one: it meets the limits without the grid's edges."""
    area = MAX_IMAGE_TOKENS * PATCH * PATCH
    return min(MAX_SIDE, math.sqrt(area * max(width, height) / min(width, height))) + 1


def _at(side: int, width: int, height: int) -> tuple[int, int]:
    """The image's size when its longer side has `side` pixels."""
    factor = side / max(width, height)
    return max(1, round(width * factor)), max(1, round(height * factor))


def _grid(width: int, height: int) -> tuple[int, int]:
    return math.ceil(width / PATCH), math.ceil(height / PATCH)


def _fits(width: int, height: int) -> bool:
    columns, rows = _grid(width, height)
    return max(columns, rows) * PATCH <= MAX_SIDE and columns * rows <= MAX_IMAGE_TOKENS


def dimensions(raw: bytes) -> tuple[int, int] | None:
    """Width and height in pixels, from the header of a PNG, GIF, JPEG or WebP image; None: it can't be read."""
    try:
        with Image.open(io.BytesIO(raw), formats=("PNG", "GIF", "JPEG", "WEBP")) as image:
            return image.size
    except (OSError, SyntaxError, ValueError, EOFError):
        return None
