// SPDX-License-Identifier: Apache-2.0 OR MIT
// What a teacher does with the studio: copies a study, asks why a claim fails, gives up on a run that takes long, and removes schemes.

import { fault, hashes, opened, settled } from "./browser.mjs";
import { becomes, fresh, inView, put } from "./mishaps.mjs";

/** A copied scenario has the same table where it is pasted, and its own title and story. */
async function pasted() {
  const page = await opened("bufferbloat");
  await put(page, "topology.buffer", 150);
  await page.locator("#seed").fill("5");
  await page.waitForTimeout(100);
  await settled(page);
  await fresh(page);
  await page.locator("#as-scenario").click();
  await page.waitForFunction(() => document.querySelector("#said").textContent !== "");
  const copied = (await page.locator("#copied").textContent()) ?? "";
  if (!/^seed = 5$/m.test(copied) || /Set from outside/.test(copied)) fault(`the copied scenario:\n${copied}`);
  const wanted = await hashes(page);
  const other = await opened("sawtooth");
  await other.locator("#seed").fill("9");
  await other.locator("summary", { hasText: "The scenario as text" }).click();
  await other.locator("#scenario").fill(copied);
  await other.locator("#apply").click();
  await becomes(other, wanted, "a pasted scenario has another table");
  const [title, story, seed] = [await other.locator("#title").textContent(), await other.locator("#story").textContent(), await other.locator("#seed").inputValue()];
  if (title !== "Bufferbloat" || !story.startsWith("A modem with") || seed !== "5") fault(`a pasted scenario has title "${title}", story "${story}", seed ${seed}`);
  for (const one of [page, other]) await one.close();
}

/** Each check of a claim has its mark and its numbers, and what failed comes first; the verdicts. */
async function marked(page) {
  await page.locator("#claims-list li").first().waitFor();
  const told = await page.evaluate(() =>
    [...document.querySelectorAll("#claims-list li")].map((one) => ({
      verdict: one.querySelector(".verdict").textContent,
      checks: [...one.querySelectorAll(".check")].map(({ className, textContent }) => ({ met: className === "check met", text: textContent })),
    })),
  );
  for (const { verdict, checks } of told) {
    if (!checks.every(({ met, text }) => (met ? /^✓ Holds: / : /^✗ Does not hold: /).test(text) && /left side \S+, right side \S+$/.test(text))) fault(`checks: ${JSON.stringify(checks)}`);
    if (verdict.startsWith("holds") !== checks.every(({ met }) => met)) fault(`"${verdict}" with ${JSON.stringify(checks)}`);
    if (checks.some(({ met }, place) => !met && checks[place - 1]?.met)) fault(`a failed check is not the first: ${JSON.stringify(checks)}`);
  }
  return told.map(({ verdict }) => verdict);
}

/** A claim that fails says where; verdicts say how short their runs are, and what of the setting is not the figure's. */
async function reasons() {
  const table = await opened("pisa-web");
  if (!(await marked(table)).some((verdict) => verdict === "does not hold")) fault("no claim of the table fails, so that the order of its checks is not tested");
  await table.close();
  const page = await opened("pert-figure-7");
  await marked(page);
  const how = (await page.locator("#claims-how").textContent()) ?? "";
  if (!/They last 30 s, the publication's 400 s: .*can differ.*full length.*knee reproduce pert\.fig7$/.test(how)) fault(`"${how}"`);
  const setting = page.locator("#claims-setting");
  if (await setting.isVisible()) fault("the preset's own setting is said to be none of the figure's");
  await page.locator("#knob-topology\\.rate").press("ArrowRight");
  await page.waitForFunction(() => /no longer the figure's: rate .* instead of 30 Mbit\/s\.$/.test(document.querySelector("#claims-setting").textContent), undefined, { timeout: 15_000 }).catch(() => fault("a changed rate is not named next to the verdicts"));
  // Without a scheme that a claim names there is no need of a sweep.
  await page.locator("article .remove").nth(2).click();
  await page.waitForFunction(() => [...document.querySelectorAll("#claims-list li")].some((one) => /^lacks a scheme.*It names sack\/red-ecn/.test(one.textContent)), undefined, { timeout: 15_000 }).catch(() => fault("a claim does not say that its scheme was removed"));
  await page.close();
}

/** The run of a moment that takes long. */
async function long(page) {
  await put(page, "run.duration", 240);
  await page.waitForFunction(() => document.querySelector("#stop").checkVisibility(), undefined, { timeout: 10_000 }).catch(() => fault("a long run offers no Stop"));
}

/** A run that takes long is stopped, and gives way to Reset and to texts at once. */
async function stopped() {
  const page = await opened("thousand-flows");
  if (await page.locator("#stop").isVisible()) fault("Stop is there, and nothing runs");
  const before = await hashes(page);
  await long(page);
  await page.locator("#stop").click();
  await fresh(page);
  if ((await hashes(page)) !== before || (await page.locator(".busy").count()) > 0) fault("Stop does not lead back to the last results");
  if (await page.locator("#stop").isVisible()) fault("Stop stays");
  await page.locator("summary", { hasText: "The scenario as text" }).click();
  for (const text of [undefined, 'name = "Half']) {
    if (text) {
      await long(page);
      await page.locator("#scenario").fill(text);
      await page.locator("#apply").click();
      await inView(page, "#refused", /^The text is refused/, "a text during a long run");
    } else {
      // Also a run that has just begun.
      await put(page, "run.duration", 240);
    }
    const began = performance.now();
    await page.locator("#reset").click();
    await fresh(page);
    await settled(page);
    if ((await hashes(page)) !== before) fault("Reset has other results");
    if (performance.now() - began > 5000) fault("Reset waits for a long run");
    console.log(`Reset${text ? " after a refused text" : ""} gives way from a long run in ${(performance.now() - began).toFixed(0)} ms`);
  }
  await page.close();
}

/** Words and places that a reader looks for. */
async function words() {
  const page = await opened("bbr-beside-cubic");
  for (const wanted of ["0.5 bdp", "8 bdp"]) {
    const found = await page.evaluate((wanted) => {
      const slider = document.getElementById("knob-topology.buffer");
      for (let place = 0; place <= Number(slider.max); place++) {
        slider.value = String(place);
        slider.dispatchEvent(new Event("input", { bubbles: true }));
        if (slider.getAttribute("aria-valuetext") === wanted) return true;
      }
      return false;
    }, wanted);
    if (!found) fault(`the slider has no ${wanted}, which the story names`);
  }
  await page.close();
  // A message about an address goes with the page that it was about.
  const other = await opened("no-such-preset");
  await inView(other, "#notice", /damaged/, "a damaged address");
  await other.locator("#preset").selectOption("knee");
  await other.waitForFunction(() => document.querySelector("#title").textContent === "The knee" && document.querySelector("#notice").childElementCount === 0, undefined, { timeout: 5000 }).catch(() => fault("a message stays with another preset"));
  await settled(other);
  // The keyboard's reader is not lost with the button.
  const focused = () => other.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.id);
  for (const wanted of [/^Remove Scheme 2, vegas/, /^Remove Scheme 2, bbr3/, /^add$/]) {
    await other.locator("article .remove").nth(1).press("Enter");
    await other.waitForTimeout(400);
    const where = await focused();
    if (!wanted.test(where)) fault(`after Remove the focus is on "${where}" and not ${wanted}`);
  }
  await other.close();
  console.log("copies, reasons, Stop and words are as a teacher needs them");
}

export const lessons = [pasted, reasons, stopped, words];
