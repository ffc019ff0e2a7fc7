"""The pages in the operator's brand, from the files of a build that knows nothing of it."""

import json
from pathlib import Path

from openspot.http.brand import Brand, BrandLink, LegalText
from openspot.http.coin_pictures import CoinPictures
from openspot.web_server.application import WebPages
from openspot.web_server.page_config import PageConfig
from tests.support.asgi import ask
from tests.support.coin_pictures import PNG, SVG, brand_with_coins

BRAND = Brand(
    name="Bob & Co",
    links=(BrandLink("Help", "https://help.example.com"),),
    colours={"dark": {"accent": "#ffaacc"}},
    logo=b"<svg/>",
    legal=(
        LegalText("terms", "Terms <of use>", "Be *fair*.\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1))\n"),
    ),
)
WORKER = Path(__file__).resolve().parents[3] / "web/public/trade/worker.js"
PAGE = '<html><head><meta name="application-name" content="OpenSpot" /><title>OpenSpot</title></head></html>'


def pages(folder: Path, brand: Brand, brand_folder: str = "") -> WebPages:
    """The web server's pages for a small build."""
    (folder / "trade").mkdir(exist_ok=True)
    (folder / "trade/index.html").write_text(PAGE)
    manifest = {"name": "OpenSpot", "short_name": "OpenSpot", "description": "Trade on an OpenSpot exchange: orders."}
    (folder / "trade/manifest.webmanifest").write_text(json.dumps(manifest))
    return WebPages(
        folder,
        PageConfig(
            "http://127.0.0.1:1", "http://127.0.0.1:2", "ws://127.0.0.1:3", brand=brand,
            coin_pictures=CoinPictures(brand_folder),
        ),
    )  # fmt: skip


async def test_every_page_has_the_name_and_the_colours(tmp_path: Path) -> None:
    served = pages(tmp_path, BRAND)
    page = (await ask(served, "GET", "/trade/wallet")).body.decode()
    assert 'content="Bob &amp; Co"' in page
    assert "<title>Bob &amp; Co</title>" in page
    assert '<link rel="stylesheet" href="/brand.css" />\n</head>' in page
    styles = (await ask(served, "GET", "/brand.css")).body.decode()
    assert styles.startswith(':root:root[data-mantine-color-scheme="dark"] { --os-accent: #ffaacc; ')
    manifest = json.loads((await ask(served, "GET", "/trade/manifest.webmanifest")).body.decode())
    assert manifest == {"name": "Bob & Co", "short_name": "Bob & Co", "description": "Trade on Bob & Co: orders."}
    logo = await ask(served, "GET", "/brand/logo.svg")
    assert (logo.header("content-type"), logo.body.decode()) == ("image/svg+xml", "<svg/>")


async def test_the_worker_has_the_name_for_messages_without_a_title(tmp_path: Path) -> None:
    (tmp_path / "trade").mkdir()
    (tmp_path / "trade/worker.js").write_text(WORKER.read_text())
    served = pages(tmp_path, BRAND._replace(name='Bob "B" \\ Co'))
    text = (await ask(served, "GET", "/trade/worker.js")).body.decode()
    assert 'const BRAND = "Bob \\"B\\" \\\\ Co";' in text
    assert "OpenSpot" not in text


async def test_a_legal_text_is_a_page_without_markup_of_its_own(tmp_path: Path) -> None:
    page = (await ask(pages(tmp_path, BRAND), "GET", "/legal/terms")).body.decode()
    assert "<title>Terms &lt;of use&gt; - Bob &amp; Co</title>" in page
    assert "<em>fair</em>" in page
    assert "<script>" not in page
    assert 'href="javascript' not in page


async def test_the_pages_learn_name_logo_links_and_legal_texts(tmp_path: Path) -> None:
    config = json.loads((await ask(pages(tmp_path, BRAND), "GET", "/config.json")).body.decode())
    assert config["brand"] == {
        "name": "Bob & Co",
        "links": [{"title": "Help", "url": "https://help.example.com"}],
        "legal": [{"title": "Terms <of use>", "url": "/legal/terms"}],
        "logo": "/brand/logo.svg",
    }


async def test_pictures_of_coins_are_served_as_they_are_now_and_run_nothing(tmp_path: Path) -> None:
    folder = brand_with_coins(tmp_path, doge_svg=SVG, shib_png=PNG, text_svg=b"<script>alert(1)</script>")
    served = pages(tmp_path, BRAND, folder)
    doge = await ask(served, "GET", "/brand/coins/doge")
    assert (doge.status, doge.header("content-type"), doge.body) == (200, "image/svg+xml", SVG)
    for drawn in (doge, await ask(served, "GET", "/brand/logo.svg")):
        policy = drawn.header("content-security-policy") or ""
        assert policy.startswith("default-src 'none'; ")
        assert "script" not in policy
        assert policy.endswith("; sandbox")
        assert drawn.header("x-content-type-options") == "nosniff"
    tag = {"if-none-match": doge.header("etag") or ""}
    assert (await ask(served, "GET", "/brand/coins/doge", headers=tag)).status == 304
    (tmp_path / "brand/coins/doge.svg").write_bytes(SVG + b" ")
    assert (await ask(served, "GET", "/brand/coins/doge", headers=tag)).body == SVG + b" "
    assert (await ask(served, "GET", "/brand/coins/shib")).header("content-type") == "image/png"
    for name in ("", "pepe", "text", "doge.svg", "../logo", "..", "%2e%2e/logo", "a/b", "x" * 33):
        reply = await ask(served, "GET", f"/brand/coins/{name}")
        assert (reply.status, reply.header("content-type")) == (404, "text/plain; charset=utf-8"), name


async def test_without_a_brand_the_files_stay_as_they_are_built(tmp_path: Path) -> None:
    served = pages(tmp_path, Brand())
    assert (await ask(served, "GET", "/trade/")).body.decode() == PAGE
    assert "brand" not in json.loads((await ask(served, "GET", "/config.json")).body.decode())
    assert (await ask(served, "GET", "/brand.css")).status == 404
