"""The model gets only an image's pixels, upright and no larger than it sees them, and nothing else of the file."""

import io
import os

import pytest
from PIL import Image
from PIL.TiffImagePlugin import IFDRational

from chat.attachments import images
from chat.attachments.images import MAX_IMAGE_BYTES, read, read_isolated, thumbnail
from memory.documents.readers.formats import NotReadableError
from tests.chat.attachments.samples import bomb, picture


def opened(content: bytes) -> Image.Image:
    image: Image.Image = Image.open(io.BytesIO(content))
    return image


def test_a_bomb_is_refused_before_anything_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image.Image, "load", lambda _: pytest.fail("it was decoded"))
    with pytest.raises(NotReadableError, match=r"100,000 × 100,000 pixels. The limit is 50 million"):
        read(bomb())


def test_an_image_is_read_in_a_process_of_its_own() -> None:
    made = read_isolated(picture(300, 200))
    assert (made.media_type, made.width, made.height) == ("image/png", 300, 200)
    assert opened(made.content).size == (300, 200)
    with pytest.raises(NotReadableError, match="pixels"):
        read_isolated(bomb())


def test_a_photo_stands_upright_and_without_the_place_it_was_taken() -> None:
    data = Image.Exif()
    data[images.ORIENTATION_TAG] = 6  # the camera was held a quarter turn to the left
    data.get_ifd(0x8825)[2] = (IFDRational(38), IFDRational(43), IFDRational(0))
    data[0x010F] = "Camera of Hildegard"
    photo = picture(80, 60, "JPEG", exif=data.tobytes(), comment=b"secret")

    made = read(photo)

    assert (made.media_type, made.width, made.height) == ("image/jpeg", 60, 80)
    assert b"Hildegard" not in made.content
    assert b"secret" not in made.content
    assert b"Exif" not in made.content
    top, bottom = opened(made.content).getpixel((30, 5)), opened(made.content).getpixel((30, 75))
    assert isinstance(top, tuple)
    assert isinstance(bottom, tuple)
    assert top[0] > 200 > bottom[0], "red, which was on the left, is on top"


def test_text_and_profiles_of_a_png_are_dropped() -> None:
    from PIL.PngImagePlugin import PngInfo

    told = PngInfo()
    told.add_text("Author", "Hildegard")
    made = read(picture(format_="PNG", pnginfo=told, icc_profile=b"Hildegard" * 20))
    assert made.media_type == "image/png"
    assert b"Hildegard" not in made.content
    assert b"iCCP" not in made.content


def test_a_large_image_is_as_large_as_the_model_sees_it() -> None:
    assert (read(picture(4_000, 3_000, "JPEG")).width, read(picture(4_000, 3_000, "JPEG")).height) == (2_212, 1_659)
    assert read(picture(9_000, 20)).width == 2_576


def test_of_an_animation_the_first_picture_is_taken() -> None:
    out = io.BytesIO()
    frames = [Image.new("P", (40, 40), color) for color in (1, 2)]
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:])
    made = read(out.getvalue())
    assert made.media_type == "image/png"
    assert getattr(opened(made.content), "n_frames", 1) == 1


def test_noise_that_compresses_badly_becomes_small_enough() -> None:
    noise = Image.frombytes("RGBA", (1_500, 1_500), os.urandom(1_500 * 1_500 * 4))
    out = io.BytesIO()
    noise.save(out, "PNG", compress_level=0)
    made = read(out.getvalue())
    assert made.media_type == "image/webp", "it keeps its transparency"
    assert len(made.content) <= MAX_IMAGE_BYTES


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "I;16"])
def test_every_kind_of_pixels_is_read(mode: str) -> None:
    format_ = "JPEG" if mode == "CMYK" else "PNG"
    out = io.BytesIO()
    Image.new(mode, (30, 20)).save(out, format_)
    assert (read(out.getvalue()).width, read(out.getvalue()).height) == (30, 20)


@pytest.mark.parametrize("cut", [40, 120])
def test_a_torn_image_is_told_so(cut: int) -> None:
    with pytest.raises(NotReadableError, match="damaged"):
        read(picture(200, 200)[:cut])


def test_a_thumbnail_is_small() -> None:
    made = opened(thumbnail(read(picture(2_000, 1_000)).content))
    assert (made.format, made.size) == ("WEBP", (320, 160))


def test_a_thumbnail_of_what_is_not_ours_is_refused() -> None:
    for content in (bomb(), b"<html>", picture(3_000, 10)):
        with pytest.raises(NotReadableError):
            thumbnail(content)
