// SPDX-License-Identifier: Apache-2.0 OR MIT
// The same windows, to the bit, in WebAssembly and natively, of controllers that receive a trace of signals.
//
//     node replay.mjs ENGINE.wasm REPLAYS [STEPS [KNEE CONTROLLER…]]
//
// REPLAYS is crates/kneepoint-web/examples/replays.rs as a program. Its traces are of TCP senders; with KNEE, a program with the feature
// `quic`, they are of senders in noq.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { engine } from "./engine.mjs";

const [wasm, replays, count = "20000", knee, ...named] = process.argv.slice(2);

/** The output of a program, which must succeed. */
function output(program, words, input) {
  const ended = spawnSync(program, words, { input, maxBuffer: 1 << 30 });
  if (ended.status !== 0) throw new Error(`${program} ${words.join(" ")}: ${ended.error ?? ended.stderr}`);
  return ended.stdout.toString();
}

const folder = mkdtempSync(join(tmpdir(), "knee-replay-"));

/** The signals to a sender with this controller. */
function trace(cc, seed) {
  if (!knee) return output(replays, ["record", cc, String(seed)]);
  const file = join(folder, `${cc}.toml`);
  writeFileSync(
    file,
    `[run]\nduration = "60s"\n[topology]\nkind = "dumbbell"\nrate = "40mbit"\nrtt = "40ms"\n[loss]\nkind = "uniform"\np = 0.0003\n` +
      `[[flows]]\nname = "long"\ncount = 2\ncc = "${cc}"\n`,
  );
  return output(knee, ["replay", "--record", file, "--host", "noq", "--flow", "long/0", "--seed", String(seed)]);
}

const page = await engine(wasm);
/** Some names are senders of the past with another's window: `sack`. */
const plays = (cc) => !page.replay(cc, "").problems?.[0].message.startsWith("no controller");
const controllers = named.length > 0 ? named : page.catalogue().controllers.map(({ name }) => name).filter(plays);
if (controllers.length < (named.length || 30)) throw new Error(`only ${controllers.length} controllers`);
let [faults, total] = [0, 0];
for (const cc of controllers) {
  let steps = 0;
  for (let seed = 1; steps < Number(count); seed++) {
    const told = trace(cc, seed);
    const own = page.replay(cc, told);
    if ("problems" in own) throw new Error(`${cc}: ${JSON.stringify(own.problems)}`);
    const native = output(replays, [], `${JSON.stringify({ cc, trace: told })}\n`).trim();
    if (own.steps < 100) throw new Error(`${cc}: a trace of ${own.steps} steps`);
    if (native !== `${own.hash} ${own.steps}`) {
      faults += 1;
      console.error(`${cc}, seed ${seed}: ${own.hash} after ${own.steps} steps in WebAssembly, ${native} natively`);
    }
    steps += own.steps;
  }
  total += steps;
}
rmSync(folder, { recursive: true });
const hosts = knee ? "noq" : "TCP";
const which = controllers.length > 8 ? `${controllers.length} controllers` : controllers.join(", ");
console.log(`${which}: windows in WebAssembly and natively are compared to the bit in ${total} steps of ${hosts}; ${faults} traces differ`);
process.exit(faults > 0 ? 1 : 0);
