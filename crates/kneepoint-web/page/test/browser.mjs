// SPDX-License-Identifier: Apache-2.0 OR MIT
// The studio in Chromium, for the tests: pages, their hands, and a list of faults.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { chromium } from "playwright-core";

/** The page under test. */
export const file = pathToFileURL(resolve(process.argv[2])).href;
export const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const faults = [];
export const fault = (what) => {
  faults.push(what);
  console.error(`FAULT: ${what}`);
};

export const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });

/** Ends the browser; the number of faults. */
export async function close() {
  await browser.close();
  console.log(`${faults.length} faults`);
  return faults.length;
}

/** A page with a preset or the state of an address, when it has shown everything. */
export async function opened(fragment, { width = 1400, height = 900, colorScheme = "light", script } = {}) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme });
  if (script) await page.addInitScript(script);
  page.on("pageerror", (error) => fault(`${fragment}: ${error.message}`));
  page.on("request", (request) => {
    const own = request.url().startsWith(file) || request.url().startsWith("blob:") || request.url().startsWith("data:");
    if (!own) fault(`${fragment} asks for ${request.url()}`);
  });
  await page.goto(`${file}#${fragment}`);
  await settled(page);
  return page;
}

/** Waits until all schemes have their pictures, and results stand. */
export async function settled(page) {
  await page.waitForFunction(
    () => {
      const schemes = [...document.querySelectorAll("article")];
      const table = document.querySelector("#results table");
      return table && schemes.length > 0 && schemes.every((one) => one.dataset.hash && !one.classList.contains("busy"));
    },
    undefined,
    { timeout: 60_000 },
  );
}

export const hashes = (page) => page.evaluate(() => [...document.querySelectorAll("article")].map((one) => one.dataset.hash).join(" "));
export const percentile = (values, share) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(share * values.length))];

/** Moves a slider, waits for the picture of every scheme, and returns how long that took in milliseconds. */
export async function drag(page, selector, steps) {
  return page.evaluate(
    async ([selector, steps]) => {
      const slider = document.querySelector(selector);
      const took = [];
      for (let step = 0; step < steps; step++) {
        const before = performance.getEntriesByName("change to picture").length;
        slider.value = String(Number(slider.value) + (step % 20 < 10 ? 1 : -1));
        slider.dispatchEvent(new Event("input", { bubbles: true }));
        while (performance.getEntriesByName("change to picture").length === before) await new Promise((go) => setTimeout(go, 1));
        took.push(performance.getEntriesByName("change to picture").at(-1).duration);
      }
      return took;
    },
    [selector, steps],
  );
}

/** What axe finds on a page; each is a fault. */
export async function barriersOf(page, where) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  for (const { id, nodes } of violations) {
    for (const { target, failureSummary } of nodes.slice(0, 3)) fault(`${where}: ${id}: ${target.join(" ")}: ${failureSummary.replace(/\s+/g, " ").slice(0, 200)}`);
  }
  return violations.reduce((sum, { nodes }) => sum + nodes.length, 0);
}
