#!/usr/bin/env python3
"""What pages are on paper, without scripts, and with numbers that are hard to write: of the lab's report and of the demo.

    page.py PICTURES PAGE.html...
    page.py --own PICTURES PAGE.html...

Fails if something is wider than an A4 page, if a chart is not drawn, is dark, or may be divided between two pages, if a word in a chart is cut off
or too small to be read on paper; if a page without scripts does not say so where its charts would be; and if the numbers on an axis look alike or
have needless digits. With `--own` it fails if a report of an experiment of one's own has anything of a paper in it. Leaves PDFs.
Needs what check.py needs.
"""

import base64
import itertools
import json
import pathlib
import sys
import tempfile

from check import Browser, Look

# A4 less the margins of 12 mm that the style sheets ask for, at 96 dots per inch.
PAPER = {"width": 702, "height": 1031}
INCHES = {"paperWidth": 8.27, "paperHeight": 11.69}
# The charts' boxes in either page, and what is drawn in them.
BOXES = ".plot, .chart:not(figure)"

TOO_WIDE = """(() => {
  const wide = [];
  for (const one of document.querySelectorAll("body *")) {
    const box = one.getBoundingClientRect(), style = getComputedStyle(one);
    // What a picture clips does not show; its words are looked at for themselves.
    if (!box.width || style.visibility === "hidden" || (one.ownerSVGElement && one.tagName !== "text")) continue;
    const cut = style.overflowX !== "visible" && one.scrollWidth > one.clientWidth + 1 && !one.closest("svg") && !one.closest(".plot");
    if (box.right > innerWidth + 1 || box.left < -1 || cut) wide.push(`${one.tagName} ${one.className} ${one.textContent.trim().slice(0, 40)}`);
  }
  if (document.documentElement.scrollWidth > innerWidth) wide.push(`the page, ${document.documentElement.scrollWidth} of ${innerWidth}`);
  return wide.slice(0, 8);
})()"""

# A browser prints in the moment in which the last handler returns: what is drawn later is drawn too late.
AT_ONCE = """(async () => {
  dispatchEvent(new Event("beforeprint"));
  await null;
  const late = [];
  for (const svg of document.querySelectorAll(".plot svg")) {
    const room = svg.getBoundingClientRect();
    for (const one of svg.querySelectorAll("text, path")) {
      const wide = one.getBoundingClientRect().right - room.right;
      if (wide > 2 && one.closest("[clip-path]") === null) late.push(`${one.tagName} ${one.textContent}: ${wide} pixels too wide`);
    }
  }
  return late.slice(0, 4);
})()"""

# Words in charts that do not lie in their picture as a whole, or whose letters are lower than can be read on paper, in pixels of 1/96 inch.
LOWEST = 7.5
WORDS_IN_CHARTS = """(() => {
  const wrong = [];
  for (const svg of document.querySelectorAll(".plot svg")) {
    const room = svg.getBoundingClientRect(), chart = svg.closest("figure")?.id;
    for (const one of svg.querySelectorAll("text")) {
      const box = one.getBoundingClientRect(), words = one.textContent.trim();
      if (!words || !box.width) continue;
      const beyond = Math.max(room.left - box.left, box.right - room.right, room.top - box.top, box.bottom - room.bottom);
      if (beyond > 1.5) wrong.push(`${chart}: "${words}" is cut off by ${beyond.toFixed(1)} pixels`);
      const lines = Math.max(one.querySelectorAll("tspan").length, 1);
      if (box.height / lines < LOWEST) wrong.push(`${chart}: "${words}" is ${(box.height / lines).toFixed(1)} pixels high`);
    }
  }
  return wrong.slice(0, 8);
})()""".replace("LOWEST", str(LOWEST))

# What is of no experiment of one's own: a paper's key, claims and what is counted of them.
OTHERS = r"""(() => {
  const body = document.body.cloneNode(true);
  body.querySelectorAll("script, footer, details.file").forEach((one) => one.remove());
  const said = body.textContent.match(/[^.\n]*\b(b08|e13|c04|b09|d10|claims?|scores?|papers?|assum\w+)\b[^.\n]*/gi) ?? [];
  const charts = JSON.parse(document.getElementById("charts").textContent).map((chart) => chart.id);
  const own = [...document.querySelectorAll("article.figure")].map((one) => one.id);
  const strange = charts.filter((id) => !own.some((name) => id.startsWith(`${name}_`)));
  return [...said.map((text) => text.trim()), ...strange].slice(0, 8);
})()"""

# Of each chart: whether it has been drawn, how high it is, whether it may be divided, how light its writing is.
CHARTS = """[...document.querySelectorAll("BOXES")].map((box) => {
  const canvas = box.querySelector("canvas"), letters = box.querySelector("svg text");
  const divided = [box, box.closest("figure")].filter((one) => one).every((one) => getComputedStyle(one).breakInside !== "avoid");
  let drawn = box.querySelectorAll("svg path").length > 3, light = 0;
  if (letters) light = Math.max(...getComputedStyle(letters).fill.match(/[0-9]+/g).slice(0, 3).map(Number));
  if (canvas) {
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    drawn = false;
    light = 255;
    for (let at = 0; at < pixels.length; at += 4) {
      if (pixels[at + 3] < 250) continue;
      drawn = true;
      light = Math.min(light, Math.max(pixels[at], pixels[at + 1], pixels[at + 2]));
    }
  }
  return { drawn, divided, light, height: box.getBoundingClientRect().height, width: box.getBoundingClientRect().width };
})""".replace("BOXES", BOXES)

# The least and the greatest mean along the y axis.
RANGES = [(0, 0.5), (0.1, 0.31), (0, 1000), (9990, 10010), (123450, 123460), (0, 1.6e7), (1.00001e6, 1.00009e6), (2e-6, 9e-6), (0, 4e10)]
PUT = """(() => {
  const parse = JSON.parse;
  JSON.parse = (text) => {
    const charts = parse(text), [low, high] = RANGE;
    for (const chart of charts.filter((one) => !one.y.words.length)) {
      chart.y.logarithmic = false;
      chart.y.shown = null;
      chart.marks = [];
      const points = chart.lines.flatMap((line) => line.points);
      points.forEach((point, at) => { point[1] = low + (high - low) * at / Math.max(points.length - 1, 1); point[2] = point[3] = 0; });
    }
    return charts;
  };
})()"""
# What stands along the y axis, upwards or downwards.
UPWARDS = """(() => {
  const box = document.querySelector(".plot svg");
  return [...box.querySelectorAll("text[text-anchor=end]")].map((one) => one.textContent);
})()"""
LONGEST = 9


def on_paper(look, page, pictures):
    for one in look.ask(AT_ONCE):
        look.fail(f"a chart is not ready when the page is printed: {one}")
    look.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": look.scheme}])
    look.call("Emulation.setDeviceMetricsOverride", deviceScaleFactor=1, mobile=False, **PAPER)
    look.ask("new Promise((done) => setTimeout(done, 300))")
    for one in look.ask(TOO_WIDE):
        look.fail(f"printed, it is wider than the page: {one}")
    for one in look.ask(WORDS_IN_CHARTS):
        look.fail(f"printed, {one}")
    charts = look.ask(CHARTS)
    if not charts:
        look.fail("there are no charts to print")
    for at, chart in enumerate(charts):
        if not chart["drawn"]:
            look.fail(f"printed, chart {at} is not drawn")
        if chart["divided"] or chart["height"] > PAPER["height"] * 0.8:
            look.fail(f"printed, chart {at} may be divided between pages ({chart['height']} pixels high)")
        if chart["light"] > 140:
            look.fail(f"printed, chart {at} is drawn for a dark screen ({chart['light']} of 255)")
    look.call("Emulation.setEmulatedMedia", media="", features=[{"name": "prefers-color-scheme", "value": look.scheme}])
    look.call("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False)
    look.ask("dispatchEvent(new Event('afterprint')), new Promise((done) => setTimeout(done, 300))")
    for at, (width, drawn) in enumerate(look.ask(DRAWN_WIDTHS)):
        if abs(width - drawn) > 2:
            look.fail(f"after printing, chart {at} is {drawn} pixels wide in a place of {width}")
    printed = look.call("Page.printToPDF", preferCSSPageSize=False, printBackground=True, **INCHES)["data"]
    (pictures / f"{page.stem}-{look.scheme}.pdf").write_bytes(base64.b64decode(printed))


DRAWN_WIDTHS = """[...document.querySelectorAll("BOXES")].map((box) => [box.clientWidth, box.querySelector("svg, canvas").clientWidth])""".replace(
    "BOXES", BOXES
)


def without_scripts(look):
    said = look.ask(f"[...document.querySelectorAll('{BOXES}')].map((box) => box.innerText)")
    if not said or any("script" not in text or box_is_long(text) for text in said):
        look.fail(f"without scripts, charts are empty: {said[:2]}")
    if not look.ask("document.querySelectorAll('table tr').length"):
        look.fail("without scripts, there are no numbers")


def box_is_long(text):
    return len(text) > 400


def on_axes(look, low, high):
    if not look.ask("document.querySelector('.plot').scrollIntoView(), new Promise((done) => setTimeout(() => done(true), 500))"):
        return
    ticks = look.ask(UPWARDS)
    numbers = [float(tick) for tick in ticks]
    steps = [after - before for before, after in itertools.pairwise(numbers)]
    if len(ticks) < 3 or len(set(ticks)) < len(ticks):
        look.fail(f"from {low} to {high}, numbers on the axis look alike: {ticks}")
    elif max(steps) - min(steps) > 1e-6 * max(map(abs, steps)):
        look.fail(f"from {low} to {high}, numbers on the axis have too few digits: {ticks}")
    if any(len(tick) > LONGEST or (high < 1e9 and low > 1e-4 and "e" in tick) for tick in ticks):
        look.fail(f"from {low} to {high}, numbers on the axis are hard to read: {ticks}")


def check(browser, page, pictures, failures):
    def open_page(what, scheme="light", **more):
        look = Look(browser, page, pictures, 1280, scheme, failures, **more)
        look.name, look.scheme = f"{page.name}, {what}", scheme
        return look

    for scheme in ["light", "dark"]:
        look = open_page(scheme, scheme)
        on_paper(look, page, pictures)
        look.said()
        look.close()
    look = open_page("no scripts", scripts=False)
    without_scripts(look)
    is_report = look.ask("!!document.querySelector('.plot')")
    look.close()
    for low, high in RANGES if is_report else []:
        look = open_page("axes", first=PUT.replace("RANGE", json.dumps([low, high])))
        on_axes(look, low, high)
        look.close()


def check_own(browser, page, pictures, failures):
    look = Look(browser, page, pictures, 1280, "light", failures)
    look.name = page.name
    for one in look.ask(OTHERS):
        look.fail(f"a report of one's own file has something else in it: {one}")
    look.close()


def main():
    own = sys.argv[1] == "--own"
    pictures, *pages = (pathlib.Path(argument).resolve() for argument in sys.argv[1 + own :])
    failures = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        try:
            for page in pages:
                if own:
                    check_own(browser, page, pictures, failures)
                check(browser, page, pictures, failures)
        finally:
            browser.close()
    for failure in failures:
        print(f"FAIL {failure}")
    if failures:
        sys.exit(1)
    print("pages: whole on A4, no chart divided or dark, no word cut off, words without scripts, axes with the digits they need")


if __name__ == "__main__":
    main()
