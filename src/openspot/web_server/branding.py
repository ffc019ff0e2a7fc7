"""The files of a build in the operator's brand: name, colours, logo and legal texts, without building again."""

import html
import json
from collections.abc import Mapping

from markdown_it import MarkdownIt

from openspot.http.brand import Brand, LegalText
from openspot.web_server.files import PageFile, plain_file

STYLES = "brand.css"
LOGO = "brand/logo.svg"
COINS = "brand/coins/"
WORKER = "worker.js"
LEGAL = "legal"
_OWN_NAME = "OpenSpot"
_HTML = "text/html; charset=utf-8"
_VARIABLES = {
    "accent": (
        "--os-accent",
        "--mantine-color-anchor",
        "--mantine-color-accent-light-color",
        "--mantine-color-accent-outline",
        "--mantine-color-accent-text",
    ),
    "accent_soft": ("--os-accent-soft", "--mantine-color-accent-light", "--mantine-color-accent-light-hover"),
    "filled": ("--os-filled", "--mantine-color-accent-filled"),
    "filled_hover": ("--os-filled-hover", "--mantine-color-accent-filled-hover"),
}
"""The styles of the pages that each colour of a brand sets (web/lib/theme/theme.ts)."""
_LEGAL_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} - {name}</title>
<style>
body {{ font-family: system-ui, sans-serif; line-height: 1.6; margin: 2rem auto; max-width: 44rem; padding: 0 1rem }}
table {{ border-collapse: collapse }} td, th {{ border: 1px solid; padding: 0.25rem 0.5rem }}
nav a {{ display: inline-block; padding: 0.5rem 0 }}
</style>
</head>
<body>
<nav><a href="/">{name}</a></nav>
<main>
<h1>{title}</h1>
{text}
</main>
</body>
</html>
"""


def branded(files: Mapping[str, PageFile], brand: Brand) -> dict[str, PageFile]:
    """`files` with what the brand changes and adds."""
    changed = {name: _page(file, brand) for name, file in files.items() if name.endswith(".html")}
    changed |= {name: _manifest(file, brand) for name, file in files.items() if name.endswith(".webmanifest")}
    changed |= {name: _worker(file, brand) for name, file in files.items() if name.endswith(f"/{WORKER}")}
    added = {f"{LEGAL}/{text.name}": _legal_page(text, brand) for text in brand.legal}
    if brand.colours:
        added[STYLES] = plain_file("text/css; charset=utf-8", styles(brand).encode())
    if brand.logo:
        added[LOGO] = plain_file("image/svg+xml", brand.logo)
    return dict(files) | changed | added if brand != Brand() else dict(files)


def styles(brand: Brand) -> str:
    """The style sheet with the brand's colours. The doubled `:root` outweighs the pages' own."""
    rules = []
    for theme, colours in brand.colours.items():
        set_to = [f"{name}: {colours[use]};" for use, names in _VARIABLES.items() if use in colours for name in names]
        rules.append(f':root:root[data-mantine-color-scheme="{theme}"] {{ {" ".join(set_to)} }}\n')
    return "".join(rules)


def _page(file: PageFile, brand: Brand) -> PageFile:
    text = file.variants[-1].body.decode().replace(_OWN_NAME, html.escape(brand.name))
    if brand.colours:
        text = text.replace("</head>", f'<link rel="stylesheet" href="/{STYLES}" />\n</head>', 1)
    return plain_file(file.content_type, text.encode())


def _manifest(file: PageFile, brand: Brand) -> PageFile:
    content = json.loads(file.variants[-1].body)
    content |= {"name": brand.name, "short_name": brand.name}
    content["description"] = content["description"].replace(f"an {_OWN_NAME} exchange", brand.name)
    return plain_file(file.content_type, json.dumps(content).encode())


def _worker(file: PageFile, brand: Brand) -> PageFile:
    # Quoted as JSON: a name may hold signs that would end a text of a script.
    text = file.variants[-1].body.decode().replace(f'"{_OWN_NAME}"', json.dumps(brand.name), 1)
    return plain_file(file.content_type, text.encode())


def _legal_page(text: LegalText, brand: Brand) -> PageFile:
    # Markup of its own would pass the policy of the pages: the texts are Markdown alone.
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(text.markdown)
    page = _LEGAL_PAGE.format(title=html.escape(text.title), name=html.escape(brand.name), text=body)
    return plain_file(_HTML, page.encode())
