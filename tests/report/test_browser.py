"""Reports in a real browser: no console errors, both themes, a scrubber that tells the truth."""

import shutil

import numpy as np
import pytest

import structopt as so
from structopt.lab.compare.cases import DATA, FORMULATIONS, Case
from structopt.lab.compare.compare import compare
from structopt.lab.compare.runs import run_cases
from structopt.lab.compare.sets import training
from structopt.report.html import comparison, write_report
from structopt.run.certificate import Certificate
from structopt.run.example import Example
from structopt.run.result import Result
from structopt.structures.base.sketch import Arcs, Boxes, Grid, Links, Order, Path, Plain, Row

MISSING = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
try:
    from chromium import chromium
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    MISSING.append("selenium")

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")

# The WCAG contrast of every piece of text with what lies behind it; those below 4.5.
FAINT = """
const parse = (c) => c.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
  .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const behind = (e) => {
  for (; e; e = e.parentElement) {
    const c = parse(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] === 1) return c;
  }
  return [255, 255, 255];
};
const faint = [];
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node; (node = walk.nextNode());) {
  const e = node.parentElement;
  if (!node.data.trim() || ["SCRIPT", "STYLE", "TITLE", "DESC"].includes(e.tagName.toUpperCase()))
    continue;
  const style = getComputedStyle(e);
  const ink = light(parse(e.closest("svg") ? style.fill : style.color)), paper = light(behind(e));
  const ratio = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
  if (ratio < 4.5) faint.push([node.data.trim(), ratio]);
}
return faint;
"""


# Every piece of text that is smaller than 14 pixels on the screen.
SMALL = """
const small = [];
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node; (node = walk.nextNode());) {
  const e = node.parentElement;
  if (!node.data.trim() || ["SCRIPT", "STYLE", "TITLE", "DESC"].includes(e.tagName.toUpperCase()))
    continue;
  let size = parseFloat(getComputedStyle(e).fontSize);
  if (e.closest("svg")) {
    const m = e.getScreenCTM();
    size *= Math.hypot(m.a, m.b);
  }
  if (size < 13.99) small.push([node.data.trim(), size]);
}
return small;
"""

BAD = "<script>window.executed = 1</script><img src=x onerror='window.executed = 2'>\"'>&amp; שלום"


@pytest.fixture(scope="module")
def browser():
    with chromium("--window-size=1280,1600") as driver:
        yield driver


@pytest.fixture(scope="module")
def model():
    X, Y = so.datasets.make_chain_crf(20, n_features=10, n_relevant=6, seed=0)
    return so.StructuredClassifier(so.Chain(), so.M3N(C=0.1), tol=1e-4).fit(X, Y), X, Y


@pytest.fixture(scope="module")
def pages(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    fitted, X, Y = model
    fitted.report(folder / "run.html", X, Y)
    hostile(folder / "hostile.html")
    given = DATA["chain CRF"](True)
    case = Case("M3N", "chain CRF", FORMULATIONS["M3N"](), given, ("ascent", "osqp"))
    (problem,) = run_cases([case], 1e-2, 20.0)
    beside = folder / "beside.html"
    beside.write_bytes(comparison(problem.results, title="beside"))
    done = compare(training(["M3N"], ["chain CRF"], quick=True), ["ascent", "highs", "SCS"])
    done.write(folder)
    names = {"run": folder / "run.html", "beside": beside, "comparison": folder / "compare.html",
             "hostile": folder / "hostile.html"}  # fmt: skip
    return names, problem, done


def hostile(path):
    """Write a page whose title, words, labels, names and notes would all like to be run."""
    tree = [
        f"{BAD}{'long' * 30}",
        *["the", "old", "grey", "dog", "of", "our", "neighbour", "saw", "a", "cat"],
    ]
    heads = tuple(range(len(tree)))
    long = "x" * 300
    pairs = [
        (Row((BAD, "b", long), (BAD, long, "c")), Row(("b", BAD, "b"), (BAD, long, "c"))),
        (Row((3, 1), list(np.eye(16).reshape(2, 8, 16))), Row((3, BAD))),
        (Arcs(heads, tree), Arcs((*heads[1:], 0), tree)),
        (
            Links(frozenset({(0, 1)}), [BAD, long], [BAD, "y"]),
            Links(frozenset({(1, 1)}), "ab", "xy"),
        ),
        (Boxes(((0, 2, BAD), (1, 2, "N")), (BAD, long)), Boxes(((0, 1, long),), (BAD, long))),
        (Grid(((BAD, "b"),) * 2, np.eye(2)), Grid((("b", "b"),) * 2)),
        (Path((("s", "a", BAD), ("a", "t", long))), Path((("s", "t", BAD),))),
        (Order((0, 1), (BAD, long)), Order((1, 0), (BAD, long))),
        (Plain(BAD), Plain(long)),
    ]
    shown = [Example(i, BAD, BAD, 1, 2, pair) for i, pair in enumerate(pairs)]
    proof = Certificate(2.0, 1.0, 0.1, note=BAD)
    run = Result(np.array([1.0, -2.0, 0.5]), proof, (), "stalled", 1.0, BAD)
    features = [(BAD, BAD), (long, BAD), ("c", long)]
    write_report(run, path, title=BAD, feature_names=features, examples=shown, settings={BAD: BAD})


def load(browser, path, theme="light"):
    feature = {"name": "prefers-color-scheme", "value": theme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    browser.get(path.as_uri())
    browser.execute_script(
        "document.querySelectorAll('details').forEach((d) => { d.open = true; })"
    )


def scrub(browser, ident, round_number):
    browser.execute_script(
        "const s = document.getElementById(arguments[0]); s.value = arguments[1];"
        "s.dispatchEvent(new Event('input'));", f"{ident}-at", str(round_number),
    )  # fmt: skip


def live(browser, ident):
    """Return the numbers of the live table by column, one dict a run."""
    box = browser.find_element(By.ID, ident)
    # of one run the names stand in the cells, the head is not displayed
    head = [h.get_attribute("textContent") for h in box.find_elements(By.CSS_SELECTOR, "thead th")]
    rows = []
    for row in box.find_elements(By.CSS_SELECTOR, "tbody tr"):
        cells = row.find_elements(By.CSS_SELECTOR, "th, td")
        data = [c.find_elements(By.TAG_NAME, "data") for c in cells]
        values = [
            float(d[0].get_attribute("value")) if d else c.text
            for c, d in zip(cells, data, strict=True)
        ]
        rows.append(dict(zip(head, values, strict=True)))
    return rows


def same(shown, record):
    names = {
        "Round": "round", "Seconds": "seconds", "Upper bound": "primal", "Lower bound": "dual",
        "Relative gap": "relative_gap", "Value": "value", "Violation": "violation",
        "Cuts added": "cuts_added", "Cuts dropped": "cuts_dropped", "Cuts standing": "cuts",
        "Nonzero weights": "nonzeros", "Solver iterations": "iterations",
        "Oracle s": "oracle_seconds", "Lift s": "lift_seconds", "Solve s": "solve_seconds",
    }  # fmt: skip
    assert {name: shown[name] for name in names} == {
        name: getattr(record, field) for name, field in names.items()
    }


def resize(browser, width):
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 1600, "deviceScaleFactor": 1, "mobile": width < 500},
    )


@pytest.mark.parametrize(("theme", "width"), [("light", 375), ("dark", 1280)])
@pytest.mark.parametrize("which", ["run", "hostile", "beside", "comparison"])
def test_page_loads_without_errors_and_can_be_read(browser, pages, which, theme, width):
    browser.get_log("browser")
    resize(browser, width)
    load(browser, pages[0][which], theme)
    assert browser.get_log("browser") == []
    assert browser.execute_script(FAINT) == []
    dark = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (dark == "rgb(20, 23, 27)") == (theme == "dark")
    for control in browser.find_elements(By.TAG_NAME, "input"):
        assert control.accessible_name == "Round"
    long, wide = browser.execute_script(
        "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert long <= wide  # nothing but tables scrolls sideways
    assert browser.execute_script(SMALL) == []
    assert browser.execute_script("return window.executed") is None
    resize(browser, 1280)


def test_a_page_fits_on_paper(browser, pages):
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    resize(browser, 794)  # A4 at 96 dots an inch
    try:
        browser.get(pages[0]["run"].as_uri())
        width, wide = browser.execute_script(
            "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        )
        assert width <= wide
        assert not browser.find_element(By.CSS_SELECTOR, ".control").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        resize(browser, 1280)


def test_every_region_that_scrolls_is_reached_by_the_keyboard(browser, pages):
    load(browser, pages[0]["hostile"])
    for region in browser.find_elements(By.CSS_SELECTOR, ".scroll"):
        assert region.get_attribute("tabindex") == "0"
        assert region.accessible_name
    for picture in browser.find_elements(By.CSS_SELECTOR, "img, svg[role=img]"):
        assert picture.accessible_name


def test_the_scrubber_shows_each_round_of_the_result(browser, model, pages):
    load(browser, pages[0]["run"])
    history = model[0].result_.history
    assert len(history) > 3
    same(live(browser, "scrubber")[0], history[-1])
    markers = browser.find_elements(By.CSS_SELECTOR, "[data-marker=scrubber] [id$=-marker]")
    assert len(markers) == 4
    before = [m.get_attribute("transform") for m in markers]
    for record in history:
        scrub(browser, "scrubber", record.round)
        same(live(browser, "scrubber")[0], record)
        output = browser.find_element(By.CSS_SELECTOR, "#scrubber output")
        assert output.text == f"{record.round} of {len(history)}"
    scrub(browser, "scrubber", 1)
    assert all(
        m.get_attribute("transform") != b and m.is_displayed()
        for m, b in zip(markers, before, strict=True)
    )


def test_the_scrubber_obeys_the_keyboard(browser, model, pages):
    load(browser, pages[0]["run"])
    slider = browser.find_element(By.ID, "scrubber-at")
    slider.send_keys(Keys.HOME, Keys.ARROW_RIGHT)
    same(live(browser, "scrubber")[0], model[0].result_.history[1])
    assert slider.get_attribute("aria-valuetext") == (f"round 2 of {len(model[0].result_.history)}")


def test_numbers_on_the_page_are_those_of_the_result(browser, model, pages):
    load(browser, pages[0]["run"])
    c = model[0].result_.certificate
    facts = {
        d.find_element(By.TAG_NAME, "dt").text: d.find_element(By.TAG_NAME, "dd")
        for d in browser.find_elements(By.CSS_SELECTOR, "dl.facts > div")
    }
    for name, value in {
        "Objective (upper bound)": c.primal, "Lower bound": c.dual, "Gap": c.gap,
        "Relative gap": c.relative_gap, "Parts that are right": model[0].score(*model[1:]),
    }.items():  # fmt: skip
        shown = facts[name].find_element(By.TAG_NAME, "data").get_attribute("value")
        assert float(shown) == pytest.approx(value, rel=1e-15)


def test_the_comparison_scrubs_all_runs_at_once(browser, pages):
    paths, problem, _ = pages
    load(browser, paths["beside"])
    results = problem.results
    for number in (1, 2, max(len(r.history) for r in results.values())):
        scrub(browser, "scrubber", number)
        rows = live(browser, "scrubber")
        assert [row["Run"] for row in rows] == list(results)
        for row, result in zip(rows, results.values(), strict=True):
            same(row, result.history[min(number, len(result.history)) - 1])


def test_attempts_are_filtered(browser, pages):
    paths, _, done = pages
    load(browser, paths["comparison"])

    def shown():
        rows = browser.find_elements(By.CSS_SELECTOR, "#attempts tr")
        return [row.text for row in rows if row.is_displayed()]

    assert len(shown()) == len(done.rows) == 3
    box = browser.find_element(By.CSS_SELECTOR, 'select[data-column="2"]')
    box.find_element(By.CSS_SELECTOR, 'option[value="ascent"]').click()
    assert len(shown()) == 1
    assert "ascent" in shown()[0]
    assert browser.find_element(By.ID, "counted").text == "1 of 3 attempts"


def test_without_scripts_the_page_says_the_same(browser, model, pages):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(pages[0]["run"].as_uri())
        assert not browser.find_element(By.ID, "scrubber-at").is_displayed()
        same(live(browser, "scrubber")[0], model[0].result_.history[-1])
        rows = browser.find_elements(By.CSS_SELECTOR, "#rounds tr")
        assert len(rows) == len(model[0].result_.history)
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
