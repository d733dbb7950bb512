// SPDX-License-Identifier: Apache-2.0 OR MIT
// Makes the studio one file: page, style, script, worker and the engine, deflated, in base64. Nothing is fetched when it is opened.
//
//     node build.mjs ENGINE.wasm PAGE.html
//
// Presets come from the engine, colours from the laboratory's charts.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";

import { build } from "esbuild";

const [wasm, page] = process.argv.slice(2);
const here = import.meta.dirname;
const read = (...path) => readFileSync(join(here, ...path), "utf8");

/** A script with everything that it imports. */
async function bundled(name, define = {}, format = "iife") {
  const { outputFiles } = await build({
    entryPoints: [join(here, "src", name)],
    bundle: true,
    write: false,
    minify: true,
    format,
    target: "es2023",
    legalComments: "none",
    define,
  });
  return outputFiles[0].text;
}

/** The variables of the palette, by day and by night. */
function palette() {
  const source = read("..", "..", "kneepoint", "src", "chart", "palette.rs");
  const colours = [...source.matchAll(/^ {4}\("(\w+)", "(#\w+)", "(#\w+)"\),$/gm)];
  if (colours.length < 13) throw new Error("palette.rs has another form than this script reads");
  const variables = (shade) => colours.map((colour) => `--${colour[1]}: ${colour[shade]};`).join(" ");
  return `:root { ${variables(2)} }\n@media (prefers-color-scheme: dark) { :root { ${variables(3)} } }\n`;
}

/** The presets that the engine has, with what it answers about each of them: a page that opens need not ask. */
async function presets(bytes) {
  const { instance } = await WebAssembly.instantiate(bytes, {});
  const engine = new Engine(instance);
  return engine.presets().map((preset) => {
    const { text, ...checked } = engine.check({ text: preset.text, set: [], files: {} });
    if (text !== preset.text) throw new Error(`${preset.id}: ${JSON.stringify(checked)}`);
    return { ...preset, checked };
  });
}

// The same calls as those of a worker.
const calls = await bundled("engine.ts", {}, "esm");
const { Engine } = await import(`data:text/javascript;base64,${Buffer.from(calls).toString("base64")}`);
const bytes = readFileSync(wasm);
const worker = await bundled("worker.ts");
const script = await bundled("main.ts", {
  WORKER: JSON.stringify(worker),
  PRESETS: JSON.stringify(await presets(bytes)),
});

const whole = read("index.html")
  .replace("/* style */", () => palette() + read("style.css"))
  .replace("/* engine */", () => gzipSync(bytes, { level: 9 }).toString("base64"))
  .replace("/* script */", () => script.replaceAll("</script", "<\\/script"));
mkdirSync(dirname(page), { recursive: true });
writeFileSync(page, whole);
const size = (count) => `${(count / 1e6).toFixed(2)} MB`;
console.log(`${page}: ${size(whole.length)}, with gzip ${size(gzipSync(whole, { level: 9 }).length)}; the engine ${size(bytes.length)}`);
