// SPDX-License-Identifier: Apache-2.0 OR MIT
// Opens every report below a folder in Chromium, at three widths, by day and by night, by keyboard and on paper.
//
//     node check.mjs FOLDER [--shots FOLDER] [--only TEXT]
//
// A fault is a line: REPORT WIDTH SCHEME: what, and the elements. The exit status is 1 if there is one.

import { readFileSync, readdirSync, existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

// The packages lie in a temporary folder, not next to this file.
const packages = createRequire(join(process.env.KNEE_PAGES_PACKAGES, "package.json"));
const { chromium } = packages("playwright-core");
const axe = readFileSync(packages.resolve("axe-core/axe.min.js"), "utf8");

const WIDTHS = [400, 800, 1400];
const SCHEMES = ["light", "dark"];
// A4 without margins, in CSS pixels.
const PAPER = { width: 794, height: 1123 };
// Shown text is not smaller than this many pixels.
const SMALLEST = 8;

const given = process.argv.slice(2);
const option = (name) => (given.includes(name) ? given[given.indexOf(name) + 1] : undefined);
const [folder, shots, only] = [resolve(given[0]), option("--shots"), option("--only")];

const reports = readdirSync(folder)
  .filter((name) => existsSync(join(folder, name, "report.html")) && (!only || name.includes(only)))
  .sort();
if (reports.length === 0) {
  console.error(`no report.html in the folders of ${folder}`);
  process.exit(1);
}
if (shots) mkdirSync(shots, { recursive: true });

// What runs in the page: a list of faults, each with the elements.
const inPage = {
  // Nothing is wider than the page, unless it lies in a box that scrolls.
  overflow: () => {
    const room = document.documentElement.clientWidth;
    const faults = [];
    if (document.documentElement.scrollWidth > room) {
      faults.push(`the page is ${document.documentElement.scrollWidth} px wide`);
    }
    const scrolls = (element) => {
      for (let box = element.parentElement; box && box !== document.body; box = box.parentElement) {
        if (["auto", "scroll"].includes(getComputedStyle(box).overflowX)) return true;
      }
      return false;
    };
    const shown = (element) => element.checkVisibility() && !element.closest(".unseen");
    for (const element of document.querySelectorAll("body *")) {
      const box = element.getBoundingClientRect();
      const beyond = box.width > 0 && (box.right > room + 1 || box.left < -1);
      if (beyond && shown(element) && !scrolls(element)) {
        faults.push(`${window.knee.path(element)} ends at ${Math.round(box.right)} px`);
      }
      const style = getComputedStyle(element);
      const hides = ["hidden", "clip"].includes(style.overflowX) && !(element instanceof SVGElement);
      if (hides && shown(element) && element.scrollWidth > element.clientWidth + 1) {
        faults.push(`${window.knee.path(element)} hides a part of itself`);
      }
    }
    return faults;
  },
  // The lettering of a chart lies in the chart, does not cover other lettering, and can be read.
  lettering: (smallest) => {
    const faults = [];
    for (const chart of document.querySelectorAll("svg[role=img]")) {
      if (!chart.checkVisibility()) continue;
      const whole = chart.getBoundingClientRect();
      const texts = [...chart.querySelectorAll("text")].filter((text) => text.textContent.trim() !== "");
      const boxes = texts.map((text) => ({ text, box: text.getBoundingClientRect(), turned: text.closest("[transform*=rotate]") }));
      for (const { text, box } of boxes) {
        const scale = text.getScreenCTM().a || text.getScreenCTM().b;
        const size = Math.hypot(text.getScreenCTM().a, text.getScreenCTM().b) * parseFloat(getComputedStyle(text).fontSize);
        if (scale !== 0 && size < smallest) faults.push(`${window.knee.path(text)} “${text.textContent}” is ${size.toFixed(1)} px high`);
        if (box.left < whole.left - 4 || box.right > whole.right + 4) {
          faults.push(`${window.knee.path(text)} “${text.textContent}” leaves its chart`);
        }
      }
      for (let one = 0; one < boxes.length; one++) {
        for (let other = one + 1; other < boxes.length; other++) {
          // Boxes of turned lettering overlap where the letters do not.
          if (boxes[one].turned || boxes[other].turned) continue;
          const [a, b] = [boxes[one].box, boxes[other].box];
          const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
          const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
          if (across > 2 && down > 0.35 * Math.min(a.height, b.height)) {
            faults.push(`${window.knee.path(chart)}: “${boxes[one].text.textContent}” and “${boxes[other].text.textContent}” overlap`);
          }
        }
      }
    }
    return faults;
  },
  // Every chart has a title, a description, and its numbers in a table.
  data: () => {
    const faults = [];
    for (const chart of document.querySelectorAll("svg[role=img]")) {
      const named = (attribute) => document.getElementById(chart.getAttribute(attribute) ?? "")?.textContent.trim();
      if (!named("aria-labelledby")) faults.push(`${window.knee.path(chart)} has no title`);
      if (!named("aria-describedby")) faults.push(`${window.knee.path(chart)} has no description`);
      const rows = chart.closest("figure")?.querySelectorAll("details tbody tr").length ?? 0;
      if (rows === 0) faults.push(`${window.knee.path(chart)} has no numbers behind it`);
    }
    return faults;
  },
  open: (whether) => document.querySelectorAll("details").forEach((one) => (one.open = whether)),
  // What scrolls or opens has a place in the order of the keyboard; returns how many such places there are.
  stops: () => {
    const faults = [];
    for (const element of document.querySelectorAll("body *")) {
      if (!element.checkVisibility() || element instanceof SVGElement) continue;
      const scrolls = ["auto", "scroll"].includes(getComputedStyle(element).overflowX) && element.scrollWidth > element.clientWidth + 1;
      if (scrolls && element.tabIndex < 0) faults.push(`${window.knee.path(element)} scrolls and the keyboard cannot reach it`);
    }
    const told = new Set([...document.querySelectorAll("dd")].map((one) => one.textContent));
    const tips = [...document.querySelectorAll("body [title]")].filter((one) => !one.closest("svg") && !told.has(one.title));
    for (const tip of tips) faults.push(`${window.knee.path(tip)} has a tooltip that only a mouse shows`);
    const places = "a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex='-1'])";
    return { faults, count: [...document.querySelectorAll(places)].filter((one) => one.checkVisibility()).length };
  },
  focused: () => {
    const element = document.activeElement;
    if (!element || element === document.body) return null;
    const style = getComputedStyle(element);
    const ringed = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
    element.dataset.reached = "yes";
    return { path: window.knee.path(element), ringed };
  },
  unreached: () => {
    const places = "a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex='-1'])";
    const missed = [...document.querySelectorAll(places)].filter((one) => one.checkVisibility() && !one.dataset.reached);
    return missed.map((one) => `the Tab key does not reach ${window.knee.path(one)}`);
  },
  // On paper nothing scrolls: what does not fit is lost.
  paper: () => {
    const faults = [];
    for (const element of document.querySelectorAll("body *")) {
      if (!element.checkVisibility() || element instanceof SVGElement) continue;
      const box = element.getBoundingClientRect();
      if (box.right > document.documentElement.clientWidth + 1) {
        faults.push(`${window.knee.path(element)} ends at ${Math.round(box.right)} of ${document.documentElement.clientWidth} px of paper`);
      } else if (getComputedStyle(element).overflowX !== "visible" && element.scrollWidth > element.clientWidth + 1) {
        faults.push(`${window.knee.path(element)} is cut off on paper`);
      }
    }
    return faults;
  },
};

// The way to an element, as a person would look for it.
const helpers = () => {
  window.knee = {
    path(element) {
      const name = (one) => one.localName + (one.id ? `#${one.id}` : one.classList.length ? `.${[...one.classList].join(".")}` : "");
      const around = element.closest("section[id], figure[id]");
      return around && around !== element ? `${name(around)} ${name(element)}` : name(element);
    },
  };
};

// What axe finds.
const judged = async (page) => {
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return violations.flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.target.join(" ")}: ${node.failureSummary.replace(/\s+/g, " ")}`));
};

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
let faults = 0;
let checks = 0;

for (const report of reports) {
  const page = await browser.newPage({ viewport: { width: WIDTHS[0], height: 900 } });
  const before = faults;
  // A page of ours asks for nothing but itself.
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(pathToFileURL(join(folder, report, "report.html")).href);
  await page.evaluate(helpers);
  await page.evaluate(axe);
  const found = (where, list) => {
    checks += 1;
    // The first of many alike say it all.
    const shown = list.slice(0, 6);
    for (const fault of shown) console.error(`${report} ${where}: ${fault}`);
    if (list.length > shown.length) console.error(`${report} ${where}: and ${list.length - shown.length} more of these`);
    faults += list.length;
  };
  found("", asked.slice(1).map((url) => `asks for ${url}`));
  found("", await page.evaluate(inPage.data));
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    found(`${width} px`, await page.evaluate(inPage.overflow));
    found(`${width} px`, await page.evaluate(inPage.lettering, SMALLEST));
    for (const scheme of SCHEMES) {
      await page.emulateMedia({ colorScheme: scheme });
      found(`${width} px ${scheme}`, await judged(page));
      if (shots) await page.screenshot({ path: join(shots, `${report}-${width}-${scheme}.png`), fullPage: true });
    }
    await page.evaluate(inPage.open, true);
    found(`${width} px, all opened`, await page.evaluate(inPage.overflow));
    // What is opened is the same at every width.
    if (width === WIDTHS[0]) found(`${width} px, all opened`, await judged(page));
    await page.evaluate(inPage.open, false);
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: WIDTHS[0], height: 900 });
  const { faults: stopped, count } = await page.evaluate(inPage.stops);
  found("keyboard", stopped);
  // The browser has a few places of its own.
  for (let stop = 0; stop < count + 20; stop++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(inPage.focused);
    if (!at && stop >= count) break;
    if (at && !at.ringed) found("keyboard", [`${at.path} does not show that it has the focus`]);
  }
  found("keyboard", await page.evaluate(inPage.unreached));
  await page.emulateMedia({ media: "print", colorScheme: "light" });
  await page.setViewportSize(PAPER);
  found("print", await page.evaluate(inPage.paper));
  if (shots) await page.pdf({ path: join(shots, `${report}.pdf`), format: "A4", margin: { top: "14mm", bottom: "14mm", left: "14mm", right: "14mm" } });
  await page.close();
  console.log(`${report}: ${faults - before} faults`);
}
await browser.close();

console.log(`${reports.length} reports, ${checks} checks, ${faults} faults`);
process.exit(faults === 0 ? 0 : 1);
