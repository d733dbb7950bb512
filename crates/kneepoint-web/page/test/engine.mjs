// SPDX-License-Identifier: Apache-2.0 OR MIT
// The engine in Node.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { build } from "esbuild";

/** The engine as the page has it. */
export async function engine(wasm) {
  const entry = join(import.meta.dirname, "..", "src", "engine.ts");
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, write: false, format: "esm" });
  const { Engine } = await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString("base64")}`);
  const module = await WebAssembly.compile(readFileSync(wasm));
  return new Engine(await WebAssembly.instantiate(module));
}
