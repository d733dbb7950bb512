// SPDX-License-Identifier: Apache-2.0 OR MIT
// Equations of every algorithm, typeset: nothing of them is lost or changed, and what is set is well formed.
//
//     node equations.mjs ENGINE.wasm

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { build } from "esbuild";

async function imported(name) {
  const { outputFiles } = await build({ entryPoints: [join(import.meta.dirname, "..", "src", name)], bundle: true, write: false, format: "esm" });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString("base64")}`);
}

const [{ Engine }, { cell, equations }] = [await imported("engine.ts"), await imported("equations.ts")];
const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]), {});
const { controllers, queues, channels } = new Engine(instance).catalogue();

const faults = [];
/** What a reader sees of it, letter by letter; strokes, roots, powers and brackets of fractions are the setting's. */
const letters = (text) => text.replace(/[\s/()^²³_`]|sqrt|cbrt/g, "").replaceAll("23", "");
const seen = (markup) =>
  markup
    .replace(/<msup>/g, "").replace(/<[^>]*>/g, "").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&")
    .replaceAll("←", "<-").replaceAll("→", "->").replaceAll("≤", "<=").replaceAll("≥", ">=").replaceAll("−", "-").replaceAll("′", "'");
/** Powers and roots become digits: both sides are compared without digits that stand for them. */
const compared = (text) => letters(text.replaceAll("²", "2").replaceAll("³", "3").replace(/cbrt\(/g, "3("));
const sorted = (text) => [...text].sort().join("");

for (const [source, expected] of [
  ["W <- (1 - b) W", "<math displaystyle=\"true\"><mi>W</mi><mo>←</mo><mrow><mo>(</mo><mn>1</mn><mo>−</mo><mi>b</mi><mo>)</mo></mrow><mspace width=\"0.2em\"/><mi>W</mi></math>"],
  ["W = S / 2", "<math displaystyle=\"true\"><mi>W</mi><mo>=</mo><mfrac><mrow><mi>S</mi></mrow><mrow><mn>2</mn></mrow></mfrac></math>"],
  ["slow start", "slow start"],
  ["once, or one-way", "once, or one-way"],
]) {
  if (cell(source) !== expected) faults.push(`${source}: ${cell(source)}`);
}
// A factor beside a fraction: whether it is in the numerator does not matter, but in the denominator it would.
if (cell("x = a / b c").includes("mfrac") || cell("x = c a / b").includes("mfrac")) faults.push("a fraction takes one of several factors");

let blocks = 0;
for (const { name, header } of [...controllers, ...queues, ...channels]) {
  header.split(/```(?:text)?\n?/).forEach((text, place) => {
    if (place % 2 === 0) return;
    blocks += 1;
    const markup = equations(text.trimEnd());
    const [own, set] = [sorted(compared(text)), sorted(compared(seen(markup)))];
    if (own !== set) faults.push(`${name}: ${[...own].length} letters became ${[...set].length}`);
    const open = [];
    for (const [, end, tag, alone] of markup.matchAll(/<(\/?)([a-z]+)[^>]*?(\/?)>/g)) {
      if (alone) continue;
      if (!end) open.push(tag);
      else if (open.pop() !== tag) faults.push(`${name}: </${tag}> closes another element`);
    }
    if (open.length > 0) faults.push(`${name}: <${open.at(-1)}> is not closed`);
  });
}
for (const one of faults) console.error(`FAULT: ${one}`);
console.log(`equations of ${blocks} explanations are typeset, with ${faults.length} faults`);
process.exit(faults.length === 0 && blocks > 20 ? 0 : 1);
