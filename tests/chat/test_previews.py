"""A preview shows one block of the user's own answer, in a frame without the page's origin and without network."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from chat.models import Conversation, Message
from recall.rendering.previews import PreviewBlock
from recall.rendering.render import preview_blocks, render
from recall.rendering.streaming import MarkdownStream

SignIn = Callable[..., Client]
FRAMED = {"Sec-Fetch-Dest": "iframe", "Sec-Fetch-Site": "same-origin"}
CHROMIUM = {"Sec-CH-UA": '"Chromium";v="156", "Not)A;Brand";v="8"'}
SVG = '<svg viewBox="0 0 10 5"><script>steal()</script></svg>'
TEXT = f"""Three of them:

```python
print("```")
```

```svg
{SVG}
```

- in a list:

  ```HTML
  <p>Hello</p>
  ```

- and

~~~mermaid
graph TD; A--"</pre><script>x</script>"-->B
~~~
"""
BLOCKS = [
    PreviewBlock("svg", f"{SVG}\n"),
    PreviewBlock("html", "<p>Hello</p>\n"),
    PreviewBlock("mermaid", 'graph TD; A--"</pre><script>x</script>"-->B\n'),
]


@pytest.fixture
def answer(alice: User) -> Message:
    talk = Conversation.objects.create(user=alice, title="Pictures")
    made: Message = Message.objects.create(
        user=alice, conversation=talk, seq=1, turn=1, role="assistant", event_type="assistant_response", text=TEXT
    )
    return made


@pytest.fixture
def fetch(sign_in: SignIn, alice: User, answer: Message) -> Callable[..., Any]:
    """Alice's browser fetches a block, by default into a frame of the page."""

    def fetch(number: int, headers: dict[str, str] = FRAMED) -> Any:
        return sign_in(alice).get(reverse("preview", args=[answer.pk, number]), headers=headers)

    return fetch


def policy_of(response: Any) -> dict[str, str]:
    parts = (part.strip().partition(" ") for part in response["Content-Security-Policy"].split(";"))
    return {name: value for name, _, value in parts}


# The blocks ----------------------------------------------------------------------------------------------------------


def test_blocks_are_numbered_as_the_page_shows_them() -> None:
    assert preview_blocks(TEXT) == BLOCKS
    html = render(TEXT)
    for number, block in enumerate(BLOCKS, 1):
        assert f'data-preview="{number}"' in html
        assert html.lower().count(f'data-language="{block.kind}" data-preview="{number}"') == 1
    assert html.count("data-preview") == 3


def test_and_the_same_while_it_streams_and_in_a_long_answer() -> None:
    long = "A paragraph.\n\n" * 4_000 + TEXT
    assert preview_blocks(long) == BLOCKS
    stream = MarkdownStream()
    for start in range(0, len(TEXT), 7):
        stream.feed(TEXT[start : start + 7])
        stream.open_part()
    stream.finish()
    assert [f'data-preview="{number}"' in stream.html for number in (1, 2, 3, 4)] == [True, True, True, False]


def test_a_text_cannot_number_its_own_blocks() -> None:
    assert (
        "data-preview" not in render('<div class="code" data-preview="1">x</div>').replace("&quot;", '"').split(">")[0]
    )
    assert preview_blocks("`svg`\n\n    <svg/>\n") == []


# The frame -----------------------------------------------------------------------------------------------------------

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("number", [1, 2, 3])
def test_no_frame_has_the_pages_origin_or_a_network(fetch: Callable[..., Any], number: int) -> None:
    response = fetch(number)
    policy = policy_of(response)
    assert response.status_code == 200
    assert policy["default-src"] == "'none'"
    assert policy["form-action"] == policy["base-uri"] == "'none'"
    assert policy["frame-ancestors"] == "'self'"
    assert "allow-same-origin" not in policy["sandbox"]
    assert {policy[name] for name in ("img-src", "font-src", "media-src")} == {"data:"}
    assert not {"connect-src", "frame-src", "worker-src", "object-src"} & policy.keys(), "nothing beyond the default"
    assert response["Connection-Allowlist"] == ("(response-origin)" if number == 3 else "()")
    assert response["Referrer-Policy"] == "no-referrer"
    assert response["X-Frame-Options"] == "SAMEORIGIN"
    assert "no-store" in response["Cache-Control"]


def test_an_image_runs_no_script(fetch: Callable[..., Any]) -> None:
    policy = policy_of(fetch(1))
    assert policy["sandbox"] == ""
    assert "script-src" not in policy


def test_a_page_runs_its_own_scripts_where_the_browser_cuts_them_off(fetch: Callable[..., Any]) -> None:
    response = fetch(2, FRAMED | CHROMIUM)
    assert policy_of(response)["sandbox"] == "allow-scripts"
    assert policy_of(response)["script-src"] == "'unsafe-inline'"
    assert response["Connection-Allowlist"] == "()"
    assert response.content.decode().endswith("<p>Hello</p>\n")


@pytest.mark.parametrize("brands", ["", '"Chromium";v="120"', '"Firefox";v="160"', '"Chromium";v="x"'])
def test_and_none_elsewhere(fetch: Callable[..., Any], answer: Message, brands: str) -> None:
    Message.objects.filter(pk=answer.pk).update(text="```html\n<script>steal()</script>\n```")
    response = fetch(1, {**FRAMED, "Sec-CH-UA": brands})
    assert policy_of(response)["sandbox"] == ""
    assert "script-src" not in policy_of(response)
    assert "Scripts don't run in this browser" in response.content.decode()


CONNECTING = """<svg><a transform="scale(2)" href="https://her-secret.example"><text>Press</text></a></svg>
<LINK/rel=preconnect href=https://her-secret.example><iFrame srcdoc="&lt;link&gt;"></iframe><object data="x"></object>
<meta http-equiv="refresh"><style><base href="x"></style><embed src="x"><area href="x"><abbr>Kept</abbr>"""


@pytest.mark.parametrize("kind", ["svg", "html"])
def test_elsewhere_no_element_is_left_that_opens_a_connection(
    fetch: Callable[..., Any], answer: Message, kind: str
) -> None:
    Message.objects.filter(pk=answer.pk).update(text=f"```{kind}\n{CONNECTING}\n```")
    shown = fetch(1).content.decode().partition("</title>" if kind == "svg" else "light")[2]

    assert set(re.findall(r"<(\w[\w-]*)", shown)) - {"style", "p"} == {
        "svg", "g" if kind == "svg" else "x-a", "text", "basefont", "x-iframe", "x-object", "abbr"
    }  # fmt: skip
    assert 'transform="scale(2)"' in shown, "a shape stays in its place"
    assert fetch(1, FRAMED | CHROMIUM).content.decode().endswith(f"{CONNECTING}\n")


def test_a_diagram_is_text_that_only_recalls_scripts_read(fetch: Callable[..., Any]) -> None:
    response, again = fetch(3), fetch(3)
    html = response.content.decode()
    assert "&lt;/pre&gt;&lt;script&gt;x&lt;/script&gt;" in html
    assert html.count("<script") == 2
    assert "mermaid.min" in html
    assert policy_of(response)["script-src"].startswith("'nonce-")
    assert policy_of(response)["script-src"] != policy_of(again)["script-src"]


@pytest.mark.parametrize("number", [0, 4, 99])
def test_there_is_no_other_block(fetch: Callable[..., Any], number: int) -> None:
    assert fetch(number).status_code == 404


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Sec-Fetch-Dest": "document", "Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Dest": "iframe", "Sec-Fetch-Site": "cross-site"},
        {"Referer": "https://evil.example/"},
    ],
)
def test_it_opens_in_a_frame_of_recalls_pages_only(fetch: Callable[..., Any], headers: dict[str, str]) -> None:
    assert fetch(1, headers).status_code == 404


def test_over_plain_http_the_referrer_tells(fetch: Callable[..., Any]) -> None:
    assert fetch(1, {"Referer": "http://testserver/c/1"}).status_code == 200


def test_no_one_else_sees_it(answer: Message, bob: User, sign_in: SignIn, client: Client) -> None:
    address = reverse("preview", args=[answer.pk, 1])
    assert sign_in(bob).get(address, headers=FRAMED).status_code == 404
    assert Client().get(address, headers=FRAMED).status_code == 302


def test_only_finished_answers_have_previews(answer: Message, fetch: Callable[..., Any]) -> None:
    Message.objects.filter(pk=answer.pk).update(status="streaming")
    assert fetch(1).status_code == 404
    Message.objects.filter(pk=answer.pk).update(status="complete", role="user")
    assert fetch(1).status_code == 404
