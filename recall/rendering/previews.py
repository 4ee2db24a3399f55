"""Previews of code in an answer: the document of the sandboxed frame that shows one block, and the frame's policy.

The document has an origin of its own and no network. A diagram runs only the scripts of Recall that draw it. HTML runs
its own, but only in browsers that enforce `CONNECTIONS`: a Content-Security-Policy covers neither WebRTC nor the
connection that a browser opens ahead of a navigation, and a host's name alone can carry what the model knows. Other
browsers get markup without elements that open one.
"""

import re
from dataclasses import dataclass
from typing import Final

from django.utils.html import escape

KINDS: Final = frozenset({"svg", "html", "mermaid"})
"""Languages of code that can be previewed."""
POLICY: Final = (
    "default-src 'none'; {scripts}style-src 'unsafe-inline'; img-src data:; font-src data:; media-src data:;"
    " form-action 'none'; base-uri 'none'; frame-ancestors 'self'; sandbox{allowed}"
)
CONNECTIONS: Final = "Connection-Allowlist"
ENFORCED_SINCE: Final = 156
"""The first Chromium in which tests/browser/test_previews.py found it to cut off every connection."""
INLINE: Final = "script-src 'unsafe-inline'; "
GUARD: Final = """<script>
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport"]) delete window[name];
const tellHeight = () => {
  const page = document.documentElement; // content outside the flow only overflows it
  const height = page.scrollHeight > page.clientHeight ? page.scrollHeight : page.getBoundingClientRect().height;
  parent.postMessage({ height }, "*");
};
new ResizeObserver(tellHeight).observe(document.documentElement);
addEventListener("load", tellHeight);
</script>"""
"""Comes before the scripts of an HTML preview: what may not connect fails as early as can be; and the height."""
NO_SCRIPTS: Final = (
    '<p style="margin:0;padding:.5rem 1rem;font:14px/1.5 system-ui,sans-serif;background:#fbeed5;color:#6b3d00">'
    "Scripts don't run in this browser, because it can't keep them off the network.</p>"
)
_SCRIPT: Final = re.compile(r"<script|\son\w+\s*=", re.IGNORECASE)
_CONNECTING: Final = re.compile(
    r"<(/?)(a|area|base|embed|fencedframe|frame|iframe|link|meta|object|portal)(?=[\s/>])", re.IGNORECASE | re.ASCII
)
"""Tags of elements for which a browser may connect to a host that the policy forbids to load from. As a parser reads a
name only where it is written out, no other spelling makes one."""
_EMPTY: Final = frozenset({"area", "base", "embed", "frame", "link", "meta"})
_CHROMIUM: Final = re.compile(r'"Chromium";\s*v="(\d{1,5})"')
HEAD: Final = '<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light">'
SVG: Final = """<title>Preview</title><style>
  html, body { height: 100%; margin: 0; background: #fff; }
  body { display: grid; place-items: center; }
  svg { max-width: 100%; max-height: 100vh; }
</style>"""
MERMAID: Final = """<title>Preview</title><style>
  html { color-scheme: light dark; } body { margin: 0; padding: 1rem; font: 14px/1.5 system-ui, sans-serif; }
  #diagram svg { display: block; height: auto; margin: auto; } #source { display: none; }
</style>"""


@dataclass(frozen=True, slots=True)
class PreviewBlock:
    """A block of code that can be previewed."""

    kind: str
    source: str


def is_cut_off(brands: str) -> bool:
    """Whether the browser keeps scripts off the network. `brands`: its `Sec-CH-UA` header."""
    found = _CHROMIUM.search(brands)
    return found is not None and int(found[1]) >= ENFORCED_SINCE


def headers(block: PreviewBlock, nonce: str, *, runs_scripts: bool) -> dict[str, str]:
    """The policies of its frame; `nonce` is that of Recall's own scripts in a diagram's."""
    scripts = {"html": INLINE if runs_scripts else "", "mermaid": f"script-src 'nonce-{nonce}'; "}.get(block.kind, "")
    return {
        "Content-Security-Policy": POLICY.format(scripts=scripts, allowed=" allow-scripts" if scripts else ""),
        CONNECTIONS: "(response-origin)" if block.kind == "mermaid" else "()",
        "Referrer-Policy": "no-referrer",
        "X-DNS-Prefetch-Control": "off",
    }


def document(block: PreviewBlock, nonce: str, scripts: tuple[str, ...], *, runs_scripts: bool) -> str:
    """The frame's document. `scripts`: addresses of those that draw a diagram."""
    source = block.source if runs_scripts else _without_connections(block)
    if block.kind == "html":
        note = NO_SCRIPTS if _SCRIPT.search(source) else ""
        return f"{HEAD}{GUARD if runs_scripts else note}{source}"
    if block.kind == "svg":
        return f"{HEAD}{SVG}{source}"
    tags = "".join(f'<script nonce="{nonce}" src="{escape(address)}"></script>' for address in scripts)
    return f'{HEAD}{MERMAID}<div id="diagram"></div><pre id="source">{escape(block.source)}</pre>{tags}'


def _without_connections(block: PreviewBlock) -> str:
    """The source with connecting elements renamed to ones that only hold their content."""

    def rename(tag: re.Match[str]) -> str:
        name = tag[2].lower()
        if name in _EMPTY:
            return f"<{tag[1]}basefont"  # obsolete: without content or effect, and allowed in a head
        return f"<{tag[1]}g" if name == "a" and block.kind == "svg" else f"<{tag[1]}x-{name}"

    return _CONNECTING.sub(rename, block.source)
