// Loads a report without a network, as a phone and as a desk has it, light and dark. Fails on messages in the console, on
// anything requested, on charts that are not drawn, and on a page wider than the screen. Leaves pictures.
import puppeteer from "puppeteer-core";
import { pathToFileURL } from "node:url";

const [report, pictures] = process.argv.slice(2);
const failures = [];
const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM, headless: true, timeout: 120_000, protocolTimeout: 300_000,
  args: ["--no-sandbox", "--disable-dev-shm-usage", "--force-color-profile=srgb"],
});

async function look(width, scheme) {
  const name = `${width}-${scheme}`;
  const fail = (what) => failures.push(`${name}: ${what}`);
  const page = await browser.newPage();
  page.setDefaultTimeout(120_000);
  page.on("console", (message) => fail(`console: ${message.text()}`));
  page.on("pageerror", (error) => fail(`error: ${error.message}`));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith("file:") && !url.startsWith("data:")) fail(`requests ${url}`);
  });
  await page.setViewport({ width, height: width < 500 ? 780 : 900, isMobile: width < 500, hasTouch: width < 500 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.setOfflineMode(true);
  await page.goto(pathToFileURL(report).href, { waitUntil: "load" });
  await page.screenshot({ path: `${pictures}/${name}-top.png` });

  // Charts are drawn as they come near.
  const charts = await page.$$(".plot");
  for (const [at, chart] of charts.entries()) {
    await chart.evaluate((element) => element.closest("figure").scrollIntoView());
    await page.waitForFunction((element) => element.querySelectorAll("svg path").length > 3, {}, chart)
      .catch(() => fail(`chart ${at} is not drawn`));
    if (at < 12) await page.screenshot({ path: `${pictures}/${name}-chart-${at}.png` });
  }
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wide > 0) fail(`the page is ${wide} pixels wider than the screen`);
  await toggles(page, fail);
  await folded(page, name, fail);
  await page.close();
}

// A button of the legend takes its line away and brings it back.
async function toggles(page, fail) {
  const button = await page.$(".legend button");
  if (!button) return fail("there is no legend");
  const drawn = () => page.evaluate(() => document.querySelectorAll(".plot")[0].querySelectorAll("path").length);
  const before = await drawn();
  await button.evaluate((element) => element.click());
  const without = await drawn();
  if (without >= before) fail(`a line stays when it is switched off (${before} paths, then ${without})`);
  await button.evaluate((element) => element.click());
  if (await drawn() !== before) fail("a line does not come back");
}

// What is folded away must fit, too.
async function folded(page, name, fail) {
  await page.evaluate(() => document.querySelectorAll("details").forEach((box) => { box.open = true; }));
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wide > 0) fail(`unfolded, the page is ${wide} pixels wider than the screen`);
  for (const part of [".setup", ".claims", ".assumptions", ".values", ".others"]) {
    const element = await page.$(part);
    await element?.evaluate((one) => one.scrollIntoView());
    if (element) await page.screenshot({ path: `${pictures}/${name}${part.replace(".", "-")}.png` });
  }
}

for (const width of [360, 1280]) {
  for (const scheme of ["light", "dark"]) await look(width, scheme);
}
const page = await browser.newPage();
await page.goto(pathToFileURL(report).href);
await page.pdf({ path: `${pictures}/print.pdf`, format: "A4" }).catch((error) => failures.push(`print: ${error.message}`));
await browser.close();
for (const failure of failures) console.log(`FAIL ${failure}`);
if (failures.length) process.exit(1);
console.log("report: nothing in the console, nothing requested, all charts drawn, nothing too wide");
