"""What kind of image a base64 block really holds, and how many tokens it costs by its size."""

import base64
import struct

PIXELS_PER_TOKEN = 750  # the provider's rule of thumb: width × height / 750
LARGEST_IMAGE_TOKENS = 1_600  # larger ones are scaled down first
UNKNOWN_IMAGE_TOKENS = 1_600  # an image by URL or file id, whose size is not known here
SIGNATURES = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}
JPEG_FRAMES = frozenset({0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF})


def decode(data: str) -> bytes | None:
    """The bytes of a base64 text, or None if it is not base64."""
    try:
        return base64.b64decode(data, validate=True)
    except ValueError:  # binascii.Error, or letters outside ASCII
        return None


def media_type(raw: bytes) -> str | None:
    """The media type the first bytes show, or None."""
    return next((kind for kind, starts in SIGNATURES.items() if raw.startswith(starts)), None)


def image_tokens(raw: bytes) -> int:
    """Tokens of an image by its width and height; the largest where the size cannot be read."""
    size = dimensions(raw)
    if size is None:
        return UNKNOWN_IMAGE_TOKENS
    return max(1, min(LARGEST_IMAGE_TOKENS, size[0] * size[1] // PIXELS_PER_TOKEN))


def dimensions(raw: bytes) -> tuple[int, int] | None:
    """Width and height in pixels, from the header of a PNG, GIF, JPEG or WebP image."""
    readers = {
        "image/png": _png_size,
        "image/gif": _gif_size,
        "image/jpeg": _jpeg_size,
        "image/webp": _webp_size,
    }
    kind = media_type(raw)
    try:
        return readers[kind](raw) if kind else None
    except (struct.error, IndexError):
        return None  # cut off in the header


def _png_size(raw: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from(">II", raw, 16)
    return width, height


def _gif_size(raw: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from("<HH", raw, 6)
    return width, height


def _jpeg_size(raw: bytes) -> tuple[int, int] | None:
    at = 2
    while raw[at] == 0xFF:
        marker = raw[at + 1]
        if marker in JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", raw, at + 5)
            return width, height
        at += 2 + int(struct.unpack_from(">H", raw, at + 2)[0])
    return None


def _webp_size(raw: bytes) -> tuple[int, int] | None:
    kind = raw[12:16]
    if kind == b"VP8X":
        return int.from_bytes(raw[24:27], "little") + 1, int.from_bytes(raw[27:30], "little") + 1
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", raw, 26)
        return width & 0x3FFF, height & 0x3FFF
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", raw, 21)
        return (bits & 0x3FFF) + 1, ((bits >> 14) & 0x3FFF) + 1
    return None
