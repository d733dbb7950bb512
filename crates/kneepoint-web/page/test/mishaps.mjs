// SPDX-License-Identifier: Apache-2.0 OR MIT
// What goes wrong at the studio: settings that are refused, damaged addresses, files that are none; and whether the page says so where it
// is seen, and keeps what was there.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync, deflateSync } from "node:zlib";

import { barriersOf, drag, fault, hashes, opened, settled } from "./browser.mjs";

/** Moves a slider to a place. */
export const put = (page, path, place) =>
  page.evaluate(
    ([path, place]) => {
      const slider = document.getElementById(`knob-${path}`);
      slider.value = String(place);
      slider.dispatchEvent(new Event("input", { bubbles: true }));
    },
    [path, place],
  );

/** The text of an element, once it has one, if all of it is in view. */
export async function inView(page, selector, pattern, what) {
  const element = page.locator(selector);
  await page.waitForFunction(([selector, source]) => new RegExp(source, "s").test(document.querySelector(selector)?.textContent ?? ""), [selector, pattern.source], { timeout: 10_000 }).catch(() => {});
  const text = (await element.textContent()) ?? "";
  if (!pattern.test(text)) fault(`${what}: "${text}" instead of ${pattern}`);
  const box = await element.boundingBox();
  const height = await page.evaluate(() => innerHeight);
  if (!box || box.y < 0 || box.y + box.height > height) fault(`${what}: the message is out of view`);
  return text;
}

/** Waits for certain results. */
export const becomes = (page, wanted, otherwise) =>
  page
    .waitForFunction((wanted) => [...document.querySelectorAll("article")].map((one) => one.dataset.hash).join(" ") === wanted, wanted, { timeout: 15_000 })
    .catch(() => fault(otherwise));

const stale = (page) => page.locator(".stale").count();

/** A slider that is put back has the value of the preset, also between two of its places. */
async function putBack() {
  const page = await opened("pisa-web");
  const before = await hashes(page);
  const place = await page.locator("#knob-run\\.duration").inputValue();
  await put(page, "run.duration", 0);
  await inView(page, "#refused", /^Duration 1 s is refused: .*from 120 s to 300 s/, "a duration below the measured interval");
  await put(page, "run.duration", place);
  await fresh(page);
  await becomes(page, before, "a slider that is put back has other results");
  await page.close();
}

/** Waits until results are of the settings again. */
export const fresh = (page) => page.waitForFunction(() => document.querySelector("#refused").childElementCount === 0 && !document.querySelector(".stale"), undefined, { timeout: 30_000 });

/** The address that the page copies opens, without a word, what the page shows. */
async function opensSame(page, what) {
  await page.locator("#as-address").click();
  await page.waitForFunction(() => document.querySelector("#said").textContent !== "");
  const copied = (await page.locator("#copied").textContent()) ?? "";
  const other = await opened(copied.replace(/^[^#]*#/, ""));
  if ((await hashes(other)) !== (await hashes(page))) fault(`${what}: the address opens something else`);
  const said = await other.locator("#notice, #refused").allTextContents();
  if (said.join("") !== "") fault(`${what}: the address opens with "${said.join(" ")}"`);
  await other.close();
}

async function refusals() {
  for (const [width, colorScheme] of [[1400, "light"], [400, "dark"]]) {
    const page = await opened("bufferbloat", { width, colorScheme });
    const before = await hashes(page);
    await put(page, "run.duration", 0);
    await inView(page, "#refused", /^Duration 1 s is refused: .*start earlier, or raise.*from 3 s to 300 s.*Take 3 s.*Back to duration 30 s/, `a refused duration at ${width} px`);
    const old = await page.locator(".old:visible").allTextContents();
    if (old.length !== 2 || !old.every((text) => text === "Results of the last valid setting: duration 30 s.")) fault(`old results are marked "${old.join(" | ")}"`);
    const slider = page.locator("#knob-run\\.duration");
    if ((await slider.getAttribute("aria-invalid")) !== "true" || !((await slider.getAttribute("aria-describedby")) ?? "").startsWith("refused")) fault("the refused slider does not say so");
    if ((await hashes(page)) !== before) fault("a refused setting has results");
    await barriersOf(page, `a refused setting at ${width} px, ${colorScheme}`);
    // Another slider does not lift the refusal, and is not blamed for it.
    await put(page, "topology.rate", 100);
    await inView(page, "#refused", /^Duration 1 s is refused/, "a second change");
    await opensSame(page, "a refused duration");
    await page.locator("#refused button", { hasText: "Take 3 s" }).click();
    await fresh(page);
    if ((await page.evaluate(() => document.activeElement.id)) !== "knob-run.duration") fault("the way out loses the focus");
    await page.close();
  }
  const page = await opened("bufferbloat");
  const before = await hashes(page);
  await page.locator("summary", { hasText: "Controller: parameters" }).first().click();
  const beta = page.locator(".parameter", { has: page.locator("code", { hasText: /^beta$/ }) }).first().locator("input");
  for (const [typed, said] of [["7", /^Scheme 1, cubic:beta=7\/droptail, is refused: .*0 to 0\.99/], ["0.5/codel", /has no comma, slash or colon.*0 to 0\.99/], ["x", /is refused.*0 to 0\.99/]]) {
    await beta.fill(typed);
    await beta.press("Enter");
    await inView(page, "#refused", said, `beta ${typed}`);
    if ((await beta.getAttribute("aria-invalid")) !== "true") fault(`the field of beta ${typed} does not say so`);
    if ((await stale(page)) === 0) fault(`results of another beta than ${typed} are not marked`);
    await opensSame(page, `beta ${typed}`);
  }
  await page.locator("#refused button", { hasText: "Back" }).click();
  await fresh(page);
  if ((await beta.inputValue()) !== "" || (await hashes(page)) !== before) fault("the way back does not lead back");
  await page.close();
  // A run that takes long marks what it will replace.
  const long = await opened("thousand-flows");
  await put(long, "run.duration", 240);
  await long.waitForFunction(() => /being simulated/.test(document.querySelector(".stale .old")?.textContent ?? ""), undefined, { timeout: 10_000 }).catch(() => fault("results of the setting before are not marked"));
  await long.close();
  console.log("refused settings mark results, name the range, and lead back");
}

async function seeds() {
  const page = await opened("sawtooth");
  const [before, seed] = [await hashes(page), page.locator("#seed")];
  for (const typed of ["1.5", "-1", "1e30", "9007199254740993", "1000000000", ""]) {
    await seed.fill(typed);
    await inView(page, "#refused", typed === "" ? /^An empty seed is refused: .*from 0 to 999,999,999/ : /^Seed .* is refused: .*from 0 to 999,999,999/, `seed ${typed}`);
    if ((await stale(page)) === 0 || (await hashes(page)) !== before) fault(`results of seed 1 are not marked next to seed ${typed}`);
    await opensSame(page, `seed ${typed}`);
  }
  await seed.fill("999999999");
  await fresh(page);
  await opensSame(page, "the greatest seed");
  await page.close();
}

const base64 = (bytes) => bytes.toString("base64url");
const address = (state) => base64(deflateSync(JSON.stringify(state)));

async function damaged() {
  const whole = address({ p: "bufferbloat", s: { "topology.buffer": "2bdp" }, n: 5 });
  const bad = [
    ["no-such-preset", /damaged: there is no preset “no-such-preset”.*Opened instead: The sawtooth/],
    ["%%%", /damaged.*Opened instead: The sawtooth/],
    [whole.slice(0, -3), /damaged: a part of it is missing or changed/],
    [address({ p: "nope" }), /damaged: there is no preset “nope”/],
    [address({ p: "knee", n: 1e30 }), /damaged: its seed is not a whole number from 0 to 999,999,999/],
    [address({ p: "knee", s: { a: 1 } }), /damaged: its settings/],
    [address({ p: "bufferbloat", s: { "run.duration": "1s" } }), /^The address has settings that are refused: .*Opened instead: Bufferbloat, unchanged/],
    [address({ p: "bufferbloat", s: { "no.field": "1" } }), /^The address has settings that are refused: .*Opened instead: Bufferbloat, unchanged/],
    ["toml=name%20%3D%20%22Half", /refused: line 1, column .*Opened instead: The sawtooth/],
    ["toml=%E2%82", /damaged: its scenario is cut/],
  ];
  for (const [fragment, said] of bad) {
    const page = await opened(fragment);
    await inView(page, "#notice", said, `the address ${fragment.slice(0, 30)}`);
    if (fragment.startsWith("toml=name") && (await page.locator("#scenario").inputValue()) !== 'name = "Half') fault("a refused scenario is not there to be mended");
    await page.close();
  }
  // Every letter counts; what is on the page stays there.
  const page = await opened(whole);
  const before = await hashes(page);
  if ((await page.locator("#notice").textContent()) !== "") fault("a sound address has a word");
  for (let place = 0; place < whole.length; place += 3) {
    const letter = whole[place] === "A" ? "B" : "A";
    await page.locator("#notice").evaluate((one) => one.replaceChildren());
    await page.evaluate((hash) => (location.hash = hash), whole.slice(0, place) + letter + whole.slice(place + 1));
    await inView(page, "#notice", /damaged.*The page stays at: Bufferbloat/, `an address whose letter ${place + 1} is wrong`);
    await settled(page);
    if ((await hashes(page)) !== before) fault(`an address whose letter ${place + 1} is wrong opens something`);
  }
  await page.close();
  const first = await opened(base64(deflateRawSync(JSON.stringify({ p: "knee", n: 3 }))));
  if ((await first.locator("#title").textContent()) !== "The knee" || (await first.locator("#seed").inputValue()) !== "3") fault("an address without a checksum does not open");
  await first.close();
  console.log(`${bad.length} damaged addresses, and ${Math.ceil(whole.length / 3)} with one wrong letter, are named`);
}

async function back() {
  const page = await opened("bufferbloat");
  const length = () => page.evaluate(() => history.length);
  const begun = await length();
  await drag(page, "#knob-topology\\.buffer", 5);
  await page.locator("#seed").fill("7");
  await settled(page);
  await page.waitForTimeout(600);
  if ((await length()) !== begun) fault("a slider makes entries in the history");
  const before = await hashes(page);
  const titled = (title) => page.waitForFunction((title) => document.querySelector("#title").textContent === title && !document.querySelector(".stale"), title, { timeout: 15_000 });
  await page.locator("#preset").selectOption("knee");
  await titled("The knee");
  await settled(page);
  const knee = await hashes(page);
  if ((await length()) !== begun + 1) fault(`a change of preset makes ${(await length()) - begun} entries in the history`);
  await page.goBack();
  await titled("Bufferbloat");
  await becomes(page, before, "Back does not restore what was seen");
  if ((await page.locator("#preset").inputValue()) !== "bufferbloat" || (await page.locator("#seed").inputValue()) !== "7") fault("Back does not restore the controls");
  await page.goForward();
  await titled("The knee");
  await becomes(page, knee, "Forth does not restore what was seen");
  // Of presets that are chosen faster than they are read the last one is shown.
  const chosen = ["sawtooth", "fq-rescues", "l4s", "web-objects", "bufferbloat"];
  await page.evaluate((chosen) => {
    const select = document.querySelector("#preset");
    for (const one of chosen) {
      select.value = one;
      select.dispatchEvent(new Event("change"));
    }
  }, chosen);
  await titled("Bufferbloat");
  await settled(page);
  if ((await page.locator("#preset").inputValue()) !== "bufferbloat") fault("the list has another preset than the page");
  // A refused setting does not stand in the way of another preset, nor come back.
  await put(page, "run.duration", 0);
  await page.locator("#refused p").first().waitFor();
  await page.locator("#preset").selectOption("knee");
  await titled("The knee");
  await fresh(page);
  await page.goBack();
  await titled("Bufferbloat");
  await fresh(page);
  await page.close();
}

/** Seven packets of a transfer. */
const CAPTURE = readFileSync(join(import.meta.dirname, "../../../torture/corpus/capture/pcap-le"));

/** A connection of aioquic. */
const QLOG = readFileSync(join(import.meta.dirname, "../../../kneepoint/tests/laboratory/qlog/aioquic.qlog"));

/** Drops files on the page. */
const drop = (page, files) =>
  page.evaluate((files) => {
    const data = new DataTransfer();
    for (const [name, bytes] of files) data.items.add(new File([new Uint8Array(bytes)], name));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  }, files.map(([name, text]) => [name, [...Buffer.from(text)]]));

async function drops() {
  for (const [width, scrolled] of [[1400, 0], [400, 0], [400, 1]]) {
    const page = await opened("sawtooth", { width });
    await page.evaluate((scrolled) => scrollTo(0, scrolled * document.body.scrollHeight), scrolled);
    const before = await hashes(page);
    for (const [name, content, said] of [
      ["empty.txt", "", /^empty\.txt: neither a capture nor a trace.*Close/],
      ["photo.png", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 0xff]), /^photo\.png: neither/],
      ["long.txt", "word ".repeat(50_000), /^long\.txt: neither.{0,500}Close$/],
      ["cut.pcap", Buffer.from([0xd4, 0xc3, 0xb2, 0xa1, 2, 0]), /^cut\.pcap: /],
    ]) {
      await drop(page, [[name, content]]);
      await inView(page, "#notice", said, `${name} at ${width} px`);
    }
    await drop(page, []);
    await inView(page, "#notice", /^Nothing that was dropped/, "a drop without a file");
    await drop(page, [["small.pcap", CAPTURE]]);
    await inView(page, "#notice", /^small\.pcap: .* packets in .*Its round-trip times are a figure\.Show the figure/, "a capture");
    await inView(page, "#figure", /Save as SVG/, "the figure of a capture");
    await drop(page, [["aioquic.qlog", QLOG]]);
    await inView(page, "#notice", /^aioquic\.qlog: .*59 packets in .* 2 lost.*Its round-trip times are a figure\.Show the figure/, "qlog");
    if ((await hashes(page)) !== before) fault("a file that is none changes results");
    await drop(page, [["link 1.trace", "4\n9\n13\n18\n1000\n"], ["other", "x"]]);
    await inView(page, "#notice", /^link 1\.trace: a trace of .*follows now.*Back to the link before/, "a trace");
    await page.waitForFunction((before) => [...document.querySelectorAll("article")].map((one) => one.dataset.hash).join(" ") !== before, before);
    await settled(page);
    await page.locator("#notice button", { hasText: "Back to the link before" }).click();
    await becomes(page, before, "the link before does not come back");
    await page.close();
  }
  console.log("dropped files are answered in view");
}

/** Keeps what is written on each canvas since it was cleared. */
const overheard = `
  const heard = new Map();
  window.written = (canvas) => heard.get(canvas) ?? [];
  const { fillText, clearRect } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.clearRect = function (...all) { heard.set(this.canvas, []); return clearRect.apply(this, all); };
  CanvasRenderingContext2D.prototype.fillText = function (...all) { heard.get(this.canvas)?.push(all[0]); return fillText.apply(this, all); };
`;

/** Picture and chart have the queue of one moment: of packets known one by one, and of later ones. */
async function moments() {
  let compared = 0;
  for (const preset of ["bufferbloat", "l4s", "knee", "thousand-flows"]) {
    const page = await opened(preset, { script: overheard });
    for (const place of [0, 3, 137, 400, 501, 733, 998, 1000]) {
      await page.locator("#time").fill(String(place));
      await page.waitForTimeout(60);
      const pairs = await page.evaluate(() =>
        [...document.querySelectorAll("article")].map((one) => [
          window.written(one.querySelector(".network")).find((text) => / in the queue$/.test(text)),
          window.written(one.querySelector(".above"))[1],
        ]),
      );
      for (const [picture, chart] of pairs) {
        // A queue that is never seen has no curve.
        if (chart === "") continue;
        compared += 1;
        if (picture !== `${chart} in the queue`) fault(`${preset} at ${place}: the picture has ${picture}, the chart ${chart}`);
      }
    }
    await page.close();
  }
  if (compared < 60) fault(`only ${compared} moments are compared`);
  console.log(`picture and chart have one queue at ${compared} moments`);
}

async function told() {
  const page = await opened("pert-figure-7");
  await page.locator("#claims-list li").first().waitFor();
  const notes = await page.evaluate(() => [...document.querySelectorAll("#claims-list li")].map((one) => [...one.querySelectorAll(".note")].find((note) => note.checkVisibility())?.textContent ?? ""));
  if (!notes.every((note) => /^Tolerance: .+\.$/.test(note)) || !notes[0].includes("similar = 0.25") || !notes[2].includes("high = 0.9")) fault(`tolerances: ${notes.join(" | ")}`);
  const words = await page.locator("#claims-words").textContent();
  if (!/Holds here.*several points/.test(words)) fault(`"holds here" is not explained: ${words}`);
  await page.close();
  // The time is of all runs together: not their sum.
  const knee = await opened("knee");
  const [took] = await drag(knee, "#knob-topology\\.rtt", 1);
  await knee.waitForTimeout(200);
  const effort = (await knee.locator("#effort").textContent()) ?? "";
  const said = Number(/packets simulated in (\d+) ms, 4 runs side by side$/.exec(effort)?.[1] ?? Number.NaN);
  if (!(said <= took + 5)) fault(`"${effort}", where everything took ${took.toFixed(0)} ms`);
  await knee.close();
  for (const [width, hidden] of [[400, true], [1400, false]]) {
    const page = await opened("bufferbloat", { width });
    if ((await page.locator("#results-more").isVisible()) !== hidden) fault(`at ${width} px the table ${hidden ? "does not say" : "says"} that a part of it is out of sight`);
    await page.close();
  }
}

export const mishaps = [refusals, putBack, seeds, damaged, back, drops, moments, told];
