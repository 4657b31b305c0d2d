#!/usr/bin/env python3
"""Loads a report without a network, as a phone and as a desk has it, light and dark.

    check.py REPORT.html PICTURES

Fails on messages in the console, on anything requested, on charts that are not drawn, or without a number that is stated about them, or with most
of their height empty, on a scheme called "paper", on a legend that does not work, and on a page or a score wider than the screen. Leaves pictures. Needs chromium (CHROMIUM names it) and nothing else: it is spoken to over a pipe, in
the Chrome DevTools Protocol.
"""

import base64
import fcntl
import json
import os
import pathlib
import select
import subprocess
import sys
import tempfile
import time

PATIENCE = 120

# A chart is drawn as it comes near.
DRAWN = """(async (at) => {
  const plot = document.querySelectorAll(".plot")[at];
  plot.closest("figure").scrollIntoView();
  for (let turn = 0; turn < 1200; turn++) {
    if (plot.querySelectorAll("svg path").length > 3) return true;
    await new Promise((done) => setTimeout(done, 50));
  }
  return false;
})(%d)"""
# What is wrong with a chart that is drawn: stated numbers that are missing, points of another simulator without a mark, and how little of the
# height the means take where it is less than LEAST. The numbers upwards say where the picture begins and ends.
LEAST = 0.35
PICTURE = """((at) => {
  const plot = document.querySelectorAll(".plot")[at], wrong = [];
  const chart = JSON.parse(document.getElementById("charts").textContent).find((one) => one.id === plot.dataset.chart);
  const words = [...plot.querySelectorAll("svg text")].map((one) => one.textContent);
  const within = (side, value) => !side.shown || (value >= side.shown[0] && value <= side.shown[1]);
  for (const mark of chart.marks) {
    if (within(chart[mark.along], mark.value) && !words.includes(mark.words)) wrong.push(`${mark.words} is not drawn`);
  }
  const points = chart.lines.flatMap((line) => line.points).filter(([x, y]) => within(chart.x, x) && within(chart.y, y));
  const ticks = [...plot.querySelectorAll("svg text[text-anchor=end]")].map((one) => Number(one.textContent)).filter(Number.isFinite);
  if (chart.y.words.length || chart.y.logarithmic || chart.y.shown || points.length < 2 || ticks.length < 2) return wrong;
  const values = [...points.map((point) => point[1]), ...chart.marks.filter((mark) => mark.along === "y").map((mark) => mark.value)];
  const [bottom, top] = [Math.min(...ticks), Math.max(...ticks)], [low, high] = [Math.min(...values), Math.max(...values)];
  if (low < bottom - 1e-9 || high > top + 1e-9 + 1e-6 * Math.abs(top)) wrong.push(`means from ${low} to ${high} in a picture from ${bottom} to ${top}`);
  // Where the picture begins at zero all from there on is used.
  const used = (high - (bottom === 0 ? 0 : low)) / (top - bottom);
  if (high > low && used < LEAST) wrong.push(`means take ${(100 * used).toFixed(0)} %% of the height`);
  return wrong;
})(%d)""".replace("LEAST", str(LEAST))
# The paper's scheme has a name.
CALLED_PAPER = """[...document.querySelectorAll("dt, .legend button, .beside th, .values th")].map((one) => one.textContent.trim()).filter((text) => /^paper\\b/i.test(text))"""
OVERHANG = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
SCORE_OVERHANG = """(() => {
  const score = document.querySelector(".score");
  return score.scrollWidth - score.parentElement.clientWidth;
})()"""
# A button of the legend takes its line away and brings it back: paths before, without, and after.
TOGGLED = """(() => {
  const button = document.querySelector(".legend button");
  if (!button) return null;
  const drawn = () => document.querySelectorAll(".plot")[0].querySelectorAll("path").length;
  const counts = [drawn()];
  for (const turn of [0, 1]) { button.click(); counts.push(drawn()); }
  return counts;
})()"""


class Browser:
    """Chromium, with a pipe to it and one from it as descriptors 3 and 4."""

    def __init__(self, profile):
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        theirs = [fcntl.fcntl(end, fcntl.F_DUPFD, 100) for end in (theirs_in, theirs_out)]

        def connect():
            os.dup2(theirs[0], 3)
            os.dup2(theirs[1], 4)

        command = [
            os.environ.get("CHROMIUM", "chromium"), "--headless=new", "--remote-debugging-pipe", "--no-sandbox",
            "--disable-dev-shm-usage", "--disable-gpu", "--force-color-profile=srgb", "--no-first-run",
            f"--user-data-dir={profile}", "about:blank",
        ]  # fmt: skip
        self.process = subprocess.Popen(
            command, preexec_fn=connect, pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for end in (theirs_in, theirs_out, *theirs):
            os.close(end)
        self.input, self.output, self.unread = ours_in, ours_out, b""
        self.number, self.events = 0, []

    def receive(self):
        until = time.monotonic() + PATIENCE
        while b"\0" not in self.unread:
            if not select.select([self.input], [], [], max(0, until - time.monotonic()))[0]:
                sys.exit("FAIL chromium does not answer")
            received = os.read(self.input, 1 << 20)
            if not received:
                sys.exit("FAIL chromium has ended")
            self.unread += received
        message, self.unread = self.unread.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.output, data) :]
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"FAIL {method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method):
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.receive())

    def close(self):
        self.process.kill()
        self.process.wait()


class Look:
    """The page with one width in one colour scheme."""

    def __init__(self, browser, report, pictures, width, scheme, failures, first=None, scripts=True):
        """`first` is a script that runs before those of the page; without `scripts` those of the page do not run."""
        self.browser, self.name, self.failures, self.pictures = browser, f"{width}-{scheme}", failures, pictures
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.target = target
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(f"{domain}.enable")
        phone = width < 500
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=780 if phone else 900, deviceScaleFactor=1, mobile=phone
        )
        self.call("Emulation.setTouchEmulationEnabled", enabled=phone)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1)
        if first:
            self.call("Page.addScriptToEvaluateOnNewDocument", source=first)
        if not scripts:
            self.call("Emulation.setScriptExecutionDisabled", value=True)
        browser.events.clear()
        self.call("Page.navigate", url=report.as_uri())
        browser.wait_for("Page.loadEventFired")

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def fail(self, what):
        self.failures.append(f"{self.name}: {what}")

    def ask(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            sys.exit(f"FAIL {self.name}: {expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def picture(self, name):
        data = self.call("Page.captureScreenshot")["data"]
        (self.pictures / f"{self.name}-{name}.png").write_bytes(base64.b64decode(data))

    def charts(self):
        for at in range(self.ask("document.querySelectorAll('.plot').length")):
            if not self.ask(DRAWN % at):
                self.fail(f"chart {at} is not drawn")
            for wrong in self.ask(PICTURE % at):
                self.fail(f"chart {at}: {wrong}")
            if at < 12:
                self.picture(f"chart-{at}")

    def widths(self):
        if (wide := self.ask(OVERHANG)) > 0:
            self.fail(f"the page is {wide} pixels wider than the screen")
        if (wide := self.ask(SCORE_OVERHANG)) > 0:
            self.fail(f"the score is {wide} pixels wider than its place")

    def names(self):
        for text in self.ask(CALLED_PAPER):
            self.fail(f"something is called after the paper and not what it is: {text}")

    def legend(self):
        counts = self.ask(TOGGLED)
        if not counts:
            return self.fail("there is no legend")
        before, without, after = counts
        if without >= before:
            self.fail(f"a line stays when it is switched off ({before} paths, then {without})")
        if after != before:
            self.fail("a line does not come back")

    def folded(self):
        """What is folded away must fit, too."""
        self.ask("document.querySelectorAll('details').forEach((box) => { box.open = true; })")
        if (wide := self.ask(OVERHANG)) > 0:
            self.fail(f"unfolded, the page is {wide} pixels wider than the screen")
        for part in ["score", "setup", "claims", "assumptions", "values", "others"]:
            if self.ask(f"(() => {{ const one = document.querySelector('.{part}'); one?.scrollIntoView(); return !!one; }})()"):
                self.picture(part)

    def said(self):
        for event in self.browser.events:
            parameters = event.get("params", {})
            match event.get("method"):
                case "Runtime.consoleAPICalled":
                    self.fail(f"console: {[one.get('value') for one in parameters['args']]}")
                case "Log.entryAdded":
                    self.fail(f"log: {parameters['entry']['text']}")
                case "Runtime.exceptionThrown":
                    self.fail(f"error: {parameters['exceptionDetails']}")
                case "Network.requestWillBeSent":
                    url = parameters["request"]["url"]
                    if not url.startswith(("file:", "data:")):
                        self.fail(f"requests {url}")

    def all(self):
        self.picture("top")
        self.charts()
        self.widths()
        self.names()
        self.legend()
        self.folded()
        self.said()

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
        self.browser.events.clear()


def main():
    report, pictures = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    failures = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        try:
            for width in [360, 1280]:
                for scheme in ["light", "dark"]:
                    look = Look(browser, report, pictures, width, scheme, failures)
                    look.all()
                    look.close()
        finally:
            browser.close()
    for failure in failures:
        print(f"FAIL {failure}")
    if failures:
        sys.exit(1)
    print("report: nothing in the console, nothing requested, all charts drawn, nothing too wide")


if __name__ == "__main__":
    main()
