"""The built site in a real browser. Build it first, and say where it is:

python -m sphinx -W -b html docs docs/_build/html
STRUCTOPT_SITE=docs/_build/html python -m pytest tests/docs/test_site.py
"""

import functools
import html.parser
import http.server
import os
import re
import shutil
import threading
import urllib.parse
from pathlib import Path

import pytest

from structopt import names

ROOT = Path(__file__).parents[2]
SITE = Path(os.environ.get("STRUCTOPT_SITE", "no site was built: STRUCTOPT_SITE is not set"))
MISSING = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
try:
    from chromium import chromium
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError:
    MISSING.append("selenium")

pytestmark = pytest.mark.skipif(not (SITE / "index.html").exists(), reason=f"not there: {SITE}")
in_browser = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")

PAGES = [
    "index.html", "start/index.html", "choose/backend.html", "howto/index.html",
    "papers/index.html", "benchmarks.html", "zoo.html", "api/index.html", "api/names/M3N.html",
    "api/modules/datasets.html", "auto_examples/index.html", "auto_examples/plot_spiral.html",
]  # fmt: skip


class Links(html.parser.HTMLParser):
    """What a page loads and links to, its anchors, and its formulas."""

    def __init__(self, text):
        super().__init__()
        self.targets, self.loaded, self.anchors = [], [], {""}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors |= {given.get("id"), given.get("name")}
        if tag == "a" and given.get("href"):
            self.targets.append(given["href"])
        if tag in ("img", "script", "source", "iframe") and given.get("src"):
            self.loaded.append(given["src"])
        if tag == "link" and given.get("rel") != "canonical" and given.get("href"):
            self.loaded.append(given["href"])


@pytest.fixture(scope="module")
def pages():
    found = (p for p in sorted(SITE.resolve().rglob("*.html")) if "_static" not in p.parts)
    return {p: Links(p.read_text(encoding="utf-8")) for p in found}


def test_links_lead_somewhere_and_nothing_is_loaded_from_elsewhere(pages):
    broken = []
    for page, links in pages.items():
        for target in links.loaded:
            url = urllib.parse.urlsplit(target)
            if url.scheme not in ("", "data") or not (page.parent / url.path).exists():
                broken.append((page.name, target))
        for target in links.targets:
            url = urllib.parse.urlsplit(target)
            if url.scheme:
                continue
            there = (page.parent / urllib.parse.unquote(url.path)).resolve() if url.path else page
            known = pages[there].anchors if there in pages else {"", url.fragment}
            if not there.exists() or urllib.parse.unquote(url.fragment) not in known:
                broken.append((str(page.relative_to(SITE.resolve())), target))
    assert broken == []


def test_style_sheets_load_nothing_from_elsewhere():
    for sheet in SITE.rglob("*.css"):
        assert "url(http" not in sheet.read_text(encoding="utf-8").replace('"', "").replace("'", "")


def test_every_public_name_has_a_page_and_every_example_its_figure():
    found = "".join(p.read_text(encoding="utf-8") for p in (SITE / "api" / "names").glob("*.html"))
    for entry in names.NAMES:
        assert re.search(rf'id="structopt\.(\w+\.)?{entry.name}"', found), entry.name
    for example in (ROOT / "examples").glob("plot_*.py"):
        page = SITE / "auto_examples" / f"{example.stem}.html"
        assert f"sphx_glr_{example.stem}_001.png" in page.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def address():
    class Silent(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    handler = functools.partial(Silent, directory=str(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def browser():
    # nothing but this machine can be reached
    with chromium("--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1") as driver:
        yield driver


def show(browser, url, width, theme):
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    feature = {"name": "prefers-color-scheme", "value": theme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    browser.get_log("browser")
    browser.get(url)


def complaints(browser):
    return [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


@in_browser
@pytest.mark.parametrize(("width", "theme"), [(375, "dark"), (1280, "light")])
def test_pages_show_without_errors_and_fit(browser, address, width, theme):
    for page in PAGES:
        show(browser, address + page, width, theme)
        assert complaints(browser) == [], page
        wide, room, ink, paper = browser.execute_script(
            "const style = getComputedStyle(document.body);"
            "return [document.documentElement.scrollWidth, document.documentElement.clientWidth,"
            " style.color, style.backgroundColor]"
        )
        assert wide <= room, f"{page} is moved sideways"
        assert not browser.execute_script(
            "return [...document.querySelectorAll('table.names td')]"
            ".filter((cell) => cell.scrollWidth > cell.clientWidth).length"
        ), f"{page}: names run into what is said of them"
        numbers = [sum(map(float, c.strip("rgba()").split(",")[:3])) for c in (ink, paper)]
        assert (numbers[0] > numbers[1]) == (theme == "dark"), page


@in_browser
@pytest.mark.parametrize("width", [375, 1280])
def test_formulas_are_drawn_in_the_font_that_is_shipped(browser, address, width):
    show(browser, address + "api/names/M3N.html", width, "light")
    sizes = browser.execute_async_script(
        "const done = arguments[0]; document.fonts.ready.then(() => done(["
        " document.fonts.check('16px \"STIX Two Math\"'),"
        " [...document.querySelectorAll('math')].map((m) => m.getBoundingClientRect().height),"
        " [...document.querySelectorAll('mfrac')].map((m) => m.getBoundingClientRect().height)]))"
    )
    loaded, formulas, fractions = sizes
    assert loaded
    assert formulas
    assert min(formulas) > 8
    assert min(fractions) > 12  # drawn one above the other


@in_browser
def test_search_finds_names_and_pages(browser, address):
    for word, expected in [("LaplaceM3N", "names/LaplaceM3N"), ("certificate", "certificates")]:
        show(browser, f"{address}search.html?q={word}", 1280, "light")
        WebDriverWait(browser, 20).until(
            lambda b: "finished" in b.find_element(By.CSS_SELECTOR, "#search-results").text
        )
        found = browser.find_elements(By.CSS_SELECTOR, "#search-results ul.search a")
        assert any(expected in link.get_attribute("href") for link in found[:10]), word
        assert complaints(browser) == []
