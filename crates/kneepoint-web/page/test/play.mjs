// SPDX-License-Identifier: Apache-2.0 OR MIT
// Plays the studio in Chromium, from its file: what it asks for, how soon it shows something, how it follows a slider, whether addresses
// restore it, what the keyboard reaches, and what axe finds.
//
//     node play.mjs PAGE.html [--shots FOLDER] [--film FOLDER] [--only stopped,words]
//
// A fault is a line, and the exit status is 1 if there is one. Times are told and not judged: they are the machine's.

import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { barriersOf, close, drag, fault, hashes, opened, percentile, settled } from "./browser.mjs";
import { lessons } from "./lessons.mjs";
import { mishaps } from "./mishaps.mjs";

const given = process.argv.slice(2);
const option = (name) => (given.includes(name) ? given[given.indexOf(name) + 1] : undefined);
const [shots, film, only] = [option("--shots"), option("--film"), option("--only")];

/** How often the page is opened to see how soon it shows something. */
const OPENINGS = 12;

async function times() {
  for (const [preset, about] of [["sawtooth", "two schemes"], ["knee", "four schemes"]]) {
    const marks = { "first picture": [], "whole picture": [] };
    for (let opening = 0; opening <= OPENINGS; opening++) {
      const page = await opened(preset);
      for (const [mark, times] of Object.entries(marks)) {
        const at = await page.evaluate((mark) => performance.getEntriesByName(mark)[0].startTime, mark);
        // The browser's own beginning is not the page's.
        if (opening > 0) times.push(at);
      }
      await page.close();
    }
    for (const [mark, times] of Object.entries(marks)) {
      const [least, median, most] = [0, 0.5, 1].map((share) => percentile(times, share).toFixed(0));
      console.log(`${mark}, ${about}: ${median} ms, ${least} to ${most} of ${OPENINGS} openings`);
    }
  }
  const knee = await opened("knee");
  const took = await drag(knee, "#knob-topology\\.rtt", 40);
  console.log(`slider to picture, four schemes of 50 Mbit/s for 20 s: median ${percentile(took, 0.5).toFixed(0)} ms, p95 ${percentile(took, 0.95).toFixed(0)} ms`);
  for (let left = 3; left > 0; left--) await knee.locator("article .remove").last().click();
  await settled(knee);
  const alone = await drag(knee, "#knob-topology\\.rtt", 40);
  console.log(`the same with one scheme: median ${percentile(alone, 0.5).toFixed(0)} ms, p95 ${percentile(alone, 0.95).toFixed(0)} ms`);
  await knee.close();
}

async function frames() {
  const page = await opened("thousand-flows");
  const { rate, longest } = await page.evaluate(async () => {
    let longest = 0;
    const observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
    });
    observer.observe({ entryTypes: ["longtask"] });
    document.querySelector("#play").click();
    let frames = 0;
    const began = performance.now();
    while (performance.now() - began < 4000) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      frames += 1;
    }
    observer.disconnect();
    return { rate: (1000 * frames) / (performance.now() - began), longest };
  });
  console.log(`a thousand flows play at ${rate.toFixed(0)} frames a second; the longest task takes ${longest > 0 ? `${longest.toFixed(0)} ms` : "less than 50 ms"}`);
  await page.close();
}

async function addresses() {
  const page = await opened("bufferbloat");
  await drag(page, "#knob-topology\\.buffer", 3);
  await page.locator("#seed").fill("7");
  await page.getByLabel("Controller of scheme 1").selectOption("bbr3");
  await page.locator("#time").fill("321");
  await settled(page);
  await page.waitForTimeout(900);
  const [address, before, time] = [await page.evaluate(() => location.hash), await hashes(page), await page.locator("#clock").textContent()];
  if (address.length > 2000) fault(`the address has ${address.length} characters`);
  const again = await opened(address.slice(1));
  if ((await hashes(again)) !== before) fault(`the address restores ${await hashes(again)} and not ${before}`);
  if ((await again.locator("#clock").textContent()) !== time) fault(`the address restores another instant than ${time}`);
  console.log(`an address of ${address.length} characters restores every scheme and the instant`);
  // A text of one's own is in the address, too; a fault in it has its place.
  await page.locator("summary", { hasText: "The scenario as text" }).click();
  const text = await page.locator("#scenario").inputValue();
  await page.locator("#scenario").fill(text.replace(/rate = "[^"]*"/, 'rate = "fast"'));
  await page.locator("#apply").click();
  await page.locator("#problems li").waitFor();
  const said = await page.locator("#problems").textContent();
  if (!/line \d+, column \d+/.test(said)) fault(`a problem without its place: ${said}`);
  await page.locator("#scenario").fill(text.replace(/name = "[^"]*"/, 'name = "Mine"'));
  await page.locator("#apply").click();
  await page.waitForFunction(() => document.querySelector("#title").textContent === "Mine");
  await settled(page);
  await page.waitForTimeout(900);
  const own = await page.evaluate(() => location.hash);
  const third = await opened(own.slice(1));
  if (own.length > 2000 || (await hashes(third)) !== (await hashes(page))) fault(`a scenario of one's own is not restored by ${own.length} characters`);
  for (const one of [page, again, third]) await one.close();
}

const claims = (page) => page.evaluate(() => [...document.querySelectorAll("#claims-list li")].map((one) => one.querySelector(".verdict").textContent));

/** Presets of papers have their claims, judged by the runs on the page and by the sweep of the figure. */
async function papers() {
  const listed = await opened("sawtooth");
  if (await listed.locator("#claims").isVisible()) fault("a preset without a paper has claims");
  const presets = await listed.evaluate(() => [...document.querySelectorAll("optgroup[label='Figures of papers'] option")].map((one) => one.value));
  await listed.close();
  let judged = 0;
  for (const preset of presets) {
    const page = await opened(preset);
    await page.locator("#claims-list li").first().waitFor();
    const verdicts = await claims(page);
    judged += verdicts.filter((verdict) => /^(holds|does not hold)( here)?$/.test(verdict)).length;
    verdicts.filter((verdict) => !/^(holds|does not hold)( here)?$|^needs the sweep$|^cannot be tested$/.test(verdict)).forEach((verdict) => fault(`${preset}: a claim is judged "${verdict}"`));
    await page.close();
  }
  console.log(`${judged} claims of ${presets.length} figures are judged by the runs on the page`);
  const page = await opened("pert-figure-8");
  await page.locator("#claims-list li").first().waitFor();
  if (!(await claims(page)).includes("needs the sweep")) fault("a claim about a thousand flows is judged by ten");
  // With a thousand flows a claim about them is judged as it stands.
  await page.evaluate(() => {
    const slider = document.querySelector("#knob-flows\\.long\\.count");
    slider.value = slider.max;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await page.waitForFunction(() => /^(holds|does not hold)$/.test(document.querySelectorAll("#claims-list .verdict")[1]?.textContent ?? ""), undefined, { timeout: 120_000 });
  await page.close();
  const table = await opened("pisa-web");
  await table.locator("#claims-sweep button").click();
  await table.waitForFunction(() => document.querySelector("#claims-how").textContent.includes("own sweep"), undefined, { timeout: 120_000 });
  const swept = await claims(table);
  if (swept.some((verdict) => verdict.endsWith("here") || verdict === "needs the sweep")) fault(`the sweep judges a part: ${swept.join(", ")}`);
  const published = await table.evaluate(() => document.querySelector("#claims-list table")?.textContent ?? "");
  if (!published.includes("published") || !published.includes("197")) fault(`the published numbers are not there: ${published}`);
  await table.close();
}

/** A link of a report has the scenario as it is. */
async function linked() {
  const text = 'name = "Linked"\n[run]\nduration = "3s"\n[topology]\nkind = "dumbbell"\nrate = "2mbit"\n[[flows]]\ncc = "reno"\n';
  const page = await opened(`toml=${encodeURIComponent(text)}`);
  if ((await page.locator("#title").textContent()) !== "Linked") fault("a link of a report opens something else");
  await page.close();
}

async function keyboard() {
  const page = await opened("sawtooth", { width: 800 });
  const places = "a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex='-1'])";
  const count = await page.evaluate((places) => [...document.querySelectorAll(places)].filter((one) => one.checkVisibility()).length, places);
  for (let stop = 0; stop < count + 20; stop++) {
    await page.keyboard.press("Tab");
    const ringed = await page.evaluate(() => {
      const element = document.activeElement;
      element.dataset.reached = "yes";
      return element === document.body || getComputedStyle(element).outlineStyle !== "none" ? "" : element.outerHTML.slice(0, 80);
    });
    if (ringed) fault(`no ring around ${ringed}`);
  }
  const missed = await page.evaluate(
    (places) => [...document.querySelectorAll(places)].filter((one) => one.checkVisibility() && !one.dataset.reached).map((one) => one.outerHTML.slice(0, 80)),
    places,
  );
  missed.forEach((one) => fault(`the Tab key does not reach ${one}`));
  const before = await hashes(page);
  await page.locator("#knob-topology\\.rate").focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction((before) => [...document.querySelectorAll("article")].map((one) => one.dataset.hash).join(" ") !== before, before);
  const chooser = page.getByLabel("Controller of scheme 1");
  await chooser.focus();
  await page.keyboard.press("ArrowDown");
  await settled(page);
  await page.waitForTimeout(300);
  if (!(await chooser.evaluate((one) => one === document.activeElement))) fault("a choice by keyboard loses the focus");
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("Home");
  await page.keyboard.press(" ");
  await page.waitForFunction(() => Number(document.querySelector("#time").value) > 0);
  await page.keyboard.press(" ");
  const at = await page.locator("#time").inputValue();
  await page.keyboard.press("ArrowRight");
  if ((await page.locator("#time").inputValue()) === at) fault("the arrow key makes no step");
  console.log(`the keyboard reaches ${count} places, moves a slider, plays and steps`);
  await page.close();
}

async function barriers() {
  let found = 0;
  for (const [preset, width] of [["bufferbloat", 1400], ["bufferbloat", 400], ["pert-figure-7", 400]]) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await opened(preset, { width, colorScheme });
      if (preset.startsWith("pert")) await page.locator("#claims-list li").first().waitFor();
      await page.evaluate(() => document.querySelectorAll("details").forEach((one) => (one.open = true)));
      await page.waitForTimeout(200);
      found += await barriersOf(page, `${preset}, ${width} px ${colorScheme}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (wide > 0) fault(`${width} px: the page is ${wide} px too wide`);
      await page.close();
    }
  }
  console.log(`axe finds ${found} barriers at two widths, by day and by night`);
}

/** Every preset as a picture. */
async function pictures(folder) {
  mkdirSync(folder, { recursive: true });
  const page = await opened("sawtooth");
  const presets = await page.evaluate(() => [...document.querySelectorAll("#preset optgroup option")].map((one) => one.value));
  await page.close();
  for (const preset of presets) {
    for (const [name, look] of [["wide", {}], ["narrow", { width: 400 }], ["dark", { colorScheme: "dark" }]]) {
      const one = await opened(preset, look);
      await one.locator("#time").fill("620");
      await one.waitForTimeout(150);
      await one.screenshot({ path: join(folder, `${preset}-${name}.png`), fullPage: name === "narrow" });
      await one.close();
    }
  }
  console.log(`${3 * presets.length} pictures of ${presets.length} presets in ${folder}`);
}

/** A slider dragged, picture by picture. */
async function filmed(folder) {
  mkdirSync(folder, { recursive: true });
  const page = await opened("knee");
  for (let frame = 0; frame < 24; frame++) {
    await page.evaluate(() => {
      const slider = document.querySelector("#knob-topology\\.buffer");
      slider.value = String(Number(slider.value) - 4);
      slider.dispatchEvent(new Event("input", { bubbles: true }));
    });
    await page.waitForTimeout(60);
    await settled(page);
    await page.screenshot({ path: join(folder, `frame-${String(frame).padStart(2, "0")}.png`) });
  }
  await page.close();
}

if (shots) await pictures(shots);
else if (film) await filmed(film);
else {
  const acts = [times, frames, addresses, papers, linked, keyboard, barriers, ...mishaps, ...lessons];
  for (const act of acts) if (!only || only.split(",").includes(act.name)) await act();
}
process.exit((await close()) === 0 ? 0 : 1);
