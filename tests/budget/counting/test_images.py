"""An image is counted by the provider's rule: squares of 28 pixels, after scaling to what the model accepts."""

import base64
import io

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from budget.counting.images import HIGH, STANDARD, Tier, image_tokens, scaled, tier_of

SONNET, OLDER = "claude-sonnet-5-5", "claude-haiku-4-5-20251001"
SIDES = st.integers(1, 8_000)

# Figures of the provider's documentation ("Vision", "Coordinates and image resizing").
DOCUMENTED = [
    (200, 200, SONNET, 64),
    (1_000, 1_000, SONNET, 1_296),
    (1_092, 1_092, SONNET, 1_521),
    (1_092, 1_092, OLDER, 1_521),
    (1_928, 1_928, SONNET, 4_761),
    (1_928, 1_928, OLDER, 1_521),
]


@pytest.mark.parametrize(("width", "height", "model", "tokens"), DOCUMENTED)
def test_an_image_costs_what_the_provider_documents(width: int, height: int, model: str, tokens: int) -> None:
    assert image_tokens(width, height, model) == tokens


def test_a_scanned_page_is_scaled_as_documented() -> None:
    assert scaled(1_075, 1_520, STANDARD) == (924, 1_307)


@pytest.mark.parametrize(
    ("model", "tier"),
    [("claude-opus-4-6", STANDARD), ("claude-opus-4-7", HIGH), ("claude-haiku-5-5", HIGH), ("llama-of-somebody", HIGH)],
)
def test_later_and_unknown_models_see_more(model: str, tier: Tier) -> None:
    assert tier_of(model) == tier


@given(width=SIDES, height=SIDES, tier=st.sampled_from([STANDARD, HIGH]))
def test_what_is_scaled_keeps_both_limits_and_its_proportions(width: int, height: int, tier: Tier) -> None:
    across, down = scaled(width, height, tier)
    assert across <= width
    assert down <= height
    assert max(across, down) <= tier.longest_side
    assert -(-across // 28) * -(-down // 28) <= tier.most_tokens
    assert abs(across * height - down * width) <= max(width, height), "a pixel of rounding at most"


@given(width=SIDES, height=SIDES)
def test_a_portrait_costs_what_the_same_landscape_costs(width: int, height: int) -> None:
    assert image_tokens(width, height, SONNET) == image_tokens(height, width, SONNET)


def test_no_image_is_no_image() -> None:
    with pytest.raises(ValueError, match="0 × 5"):
        image_tokens(0, 5, SONNET)


@pytest.mark.parametrize(
    "size", [(1, 1), (29, 28), (640, 480), (1_920, 1_080), (1_240, 1_754), (6_000, 90), (4_000, 4_000)]
)
def test_the_offline_server_counts_an_image_alike(offline_server: str, size: tuple[int, int]) -> None:
    plain: dict[str, object] = {"type": "text", "text": "What is this?"}
    with httpx2.Client(base_url=offline_server, headers=HEADERS) as http:
        with_image, without = (_counted(http, content) for content in ([_png(*size), plain], [plain]))
    assert with_image - without == image_tokens(*size, SONNET)


HEADERS = {"x-api-key": "test", "anthropic-version": "2026-10-21"}


def _counted(http: httpx2.Client, content: list[dict[str, object]]) -> int:
    asked = {"model": SONNET, "messages": [{"role": "user", "content": content}]}
    tokens: int = http.post("/v1/messages/count_tokens", json=asked).raise_for_status().json()["input_tokens"]
    return tokens


def _png(width: int, height: int) -> dict[str, object]:
    """A black image of this size in pixels, as a block."""
    file = io.BytesIO()
    Image.new("1", (width, height)).save(file, "png")
    data = base64.b64encode(file.getvalue()).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
