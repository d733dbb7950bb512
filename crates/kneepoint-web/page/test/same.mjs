// SPDX-License-Identifier: Apache-2.0 OR MIT
// The same rows in WebAssembly and natively, for scenarios at random; and what a packet costs in each.
//
//     node same.mjs ENGINE.wasm HASHES [COUNT]
//
// HASHES is crates/kneepoint-web/examples/hashes.rs as a program.

import { spawnSync } from "node:child_process";

import { engine } from "./engine.mjs";
import { questions } from "./random.mjs";

const [wasm, hashes, count = "200"] = process.argv.slice(2);

/** The hash of a run in small steps, its packets, and its seconds. */
function run(engine, question) {
  const began = performance.now();
  const problems = engine.start(question);
  if (problems) return { hash: "refused", packets: 0, seconds: 0, problems };
  for (let at = 0.5; engine.step(at); at += 0.5);
  const { answer } = engine.finish();
  return { hash: answer.hash, packets: answer.bottleneck_packets, seconds: (performance.now() - began) / 1000 };
}

const page = await engine(wasm);
const asked = questions(Number(count), 20260726, page.catalogue());
const native = spawnSync(hashes, { input: `${asked.map((one) => JSON.stringify(one)).join("\n")}\n`, maxBuffer: 1 << 26 });
if (native.status !== 0) throw new Error(`${hashes}: ${native.stderr}`);
const lines = native.stdout.toString().trim().split("\n").map((line) => line.split(" "));

let [faults, refused] = [0, 0];
const total = { packets: 0, page: 0, native: 0 };
asked.forEach((question, place) => {
  const own = run(page, question);
  const [hash, , seconds] = lines[place];
  if (own.hash === "refused") refused += 1;
  if (own.hash !== hash) {
    faults += 1;
    console.error(`scenario ${place}: ${own.hash} in WebAssembly, ${hash} natively:\n${question.text}`);
  }
  total.packets += own.packets;
  total.page += own.seconds;
  total.native += Number(seconds);
});
const cost = (seconds) => `${((1e9 * seconds) / total.packets).toFixed(0)} ns`;
console.log(
  `${asked.length - faults} of ${asked.length} scenarios have the same rows (${refused} refused by both); a packet costs ` +
    `${cost(total.page)} in WebAssembly and ${cost(total.native)} natively, with all that a page is told`,
);
process.exit(faults > 0 || refused > asked.length / 4 ? 1 : 0);
