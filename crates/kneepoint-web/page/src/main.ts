// SPDX-License-Identifier: Apache-2.0 OR MIT
// The studio: the engine of Kneepoint in a page.

import { choice, make, named } from "./dom.ts";
import { button } from "./player.ts";
import { command, PANELS, picture, python } from "./share.ts";
import { begin } from "./staff.ts";
import { presetOf, stateOf, storyOf, type State } from "./state.ts";
import { Studio } from "./studio.ts";
import type { Problem } from "./types.ts";

/** The scenario that `knee studio` put into the page. */
function own(): State | undefined {
  const given = document.getElementById("own")?.textContent;
  return given ? { preset: presetOf("").id, text: JSON.parse(given) as string, set: {} } : undefined;
}

// Workers begin before the rest of the page is there; the engine stands at its end.
begin(presetOf(location.hash.slice(1)).checked.cases.length);
const fallback: State = own() ?? { preset: presetOf("").id, set: {} };
const studio = new Studio(fallback);

function presets(state: State): void {
  const options = PRESETS.map(({ id, family, text }) => ({ value: id, text: storyOf(text).title, under: family }));
  const select = choice("Preset", options, state.preset, (preset) => {
    studio.files = {};
    void studio.load({ preset, set: {} });
  });
  select.id = "preset";
  named("preset").replaceWith(select);
}

const editor = named<HTMLTextAreaElement>("scenario");

/** The problems of a scenario; each leads to its place in the text. */
function tell(problems: Problem[]): void {
  const lines = problems.map(({ line, column, set, message, help }) => {
    const place = set === null ? `line ${line}, column ${column}` : `setting ${set + 1}`;
    const go = (): void => {
      const before = editor.value.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
      editor.focus();
      editor.setSelectionRange(before + column - 1, before + column);
    };
    return make("li", {}, button(place, go, { class: "quiet" }), ` ${message}${help ? `; ${help}` : ""}`);
  });
  named("problems").replaceChildren(...lines);
}

/** Copies a text, and says so. */
async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    named("said").textContent = `${what} copied`;
  } catch {
    // A page from a file may not be allowed to: the text is there to be copied by hand.
    named("said").textContent = `${what}: copy it from the box below`;
  }
  named("copied").textContent = text;
  named("copied").hidden = false;
}

async function figure(place: number): Promise<void> {
  const panel = PANELS[place];
  const films = studio.columns.flatMap(({ film }) => (film ? [film] : []));
  if (!panel || films.length === 0) return;
  show(await studio.clerk.picture(picture(panel, films, studio.labels)), `${studio.state.preset}-${panel.quantity}`);
}

/** Shows a figure of the laboratory, and offers it as a file. */
function show(svg: string, name: string): void {
  const source = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  const title = /aria-label="([^"]*)"/.exec(svg)?.[1] ?? name;
  const image = make("img", { src: source, alt: title });
  named("figure").replaceChildren(image, make("a", { href: source, download: `${name}.svg` }, "Save as SVG"));
}

/** Reads a file that was dropped on the page, or chosen. */
async function take(file: File): Promise<void> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const text = new TextDecoder().decode(bytes);
  const { given, numbers } = await studio.clerk.given(bytes);
  const said = named("given");
  if (given.kind === "unknown") {
    said.textContent = `${file.name}: ${given.message}`;
  } else if (given.kind === "trace") {
    said.textContent = `${file.name}: a trace of ${given.mean} in the mean over ${given.period_s.toFixed(1)} s, which the bottleneck follows now. Addresses do not carry it.`;
    studio.files = { ...studio.files, [file.name]: text };
    const capacity = `{ kind = "trace", file = ${JSON.stringify(file.name)}, besides = "ignored" }`;
    await studio.load({ ...studio.state, set: { ...studio.state.set, capacity, "topology.rate": given.mean } });
  } else {
    const { connection, connections, packets, losses, lasted_s, samples } = given;
    said.textContent = `${file.name}: ${connection}${connections > 1 ? `, the greatest of ${connections} connections` : ""}: ${packets} packets in ${lasted_s.toFixed(1)} s, ${losses} lost.`;
    const every = Math.max(1, Math.ceil(samples / 1500));
    const points = (from: number): [number, number][] =>
      Array.from({ length: Math.floor(samples / every) }, (_, place) => [numbers[place * every] as number, numbers[from + place * every] as number]);
    const title = `Round-trip times in ${file.name}`;
    const series = [{ name: connection, rank: 0, points: points(samples) }];
    show(await studio.clerk.picture({ title, x: "time, s", y: "round-trip time, ms", series }), file.name);
  }
}

studio.onproblems = tell;
studio.onsettled = () => {
  if (document.activeElement !== editor) editor.value = studio.checked?.text ?? "";
  const preset = named<HTMLSelectElement>("preset");
  if (preset.value !== studio.state.preset) preset.value = studio.state.preset;
};

named("add").addEventListener("click", () => studio.add());
named("reset").addEventListener("click", () => void studio.load({ preset: studio.state.preset, set: {} }));
named<HTMLInputElement>("seed").addEventListener("input", (event) => {
  const seed = Math.floor(Number((event.target as HTMLInputElement).value));
  if (seed >= 0) void studio.seedWith(seed);
});
named("apply").addEventListener("click", () => void studio.write(editor.value));
named("as-command").addEventListener("click", () => void copy(command(studio.checked?.text ?? "", studio.seed), "Command"));
named("as-scenario").addEventListener("click", () => void copy(studio.checked?.text ?? "", "Scenario"));
named("as-python").addEventListener("click", () => void copy(python(studio.checked?.text ?? "", studio.seed), "Program"));
named("as-address").addEventListener("click", () => void copy(location.href, "Address"));
named("figures").append(...PANELS.map(({ title }, place) => button(title, () => void figure(place))));
named<HTMLInputElement>("file").addEventListener("change", (event) => {
  const [file] = (event.target as HTMLInputElement).files ?? [];
  if (file) void take(file);
});
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  const [file] = event.dataTransfer?.files ?? [];
  if (file) void take(file);
});
// In a page of the book it is a figure: the charts and their sliders, and a link to all of it as it is.
if (self !== top) {
  document.documentElement.classList.add("framed");
  const whole = named<HTMLAnchorElement>("whole");
  whole.hidden = false;
  whole.addEventListener("click", () => (whole.href = location.href));
}
addEventListener("hashchange", () => void stateOf(location.hash.slice(1)).then((state) => state && studio.load(state)));

void stateOf(location.hash.slice(1)).then((state) => {
  presets(state ?? fallback);
  return studio.load(state ?? fallback);
});
