// SPDX-License-Identifier: Apache-2.0 OR MIT
// The studio: the engine of Kneepoint in a page.

import { choice, make, named } from "./dom.ts";
import { printable, quiet, say, type Way } from "./notice.ts";
import { button } from "./player.ts";
import { placed, worded } from "./refusal.ts";
import { command, PANELS, picture, python } from "./share.ts";
import { begin } from "./staff.ts";
import { Damaged, fragmentOf, presetOf, stateOf, storyOf, textOf, type State } from "./state.ts";
import { Studio } from "./studio.ts";
import type { Problem, Problems } from "./types.ts";

/** The scenario that `knee studio` put into the page. */
function own(): State | undefined {
  const given = document.getElementById("own")?.textContent;
  return given ? { preset: presetOf("").id, text: JSON.parse(given) as string, set: {} } : undefined;
}

// Workers begin before the rest of the page is there; the engine stands at its end.
begin(presetOf(location.hash.slice(1)).checked.cases.length);
const fallback: State = own() ?? { preset: presetOf("").id, set: {} };
const studio = new Studio(fallback);

/** Begins with a preset: messages, and texts that were refused, belong to what was there before. */
function begun(preset: string): void {
  quiet();
  draft = undefined;
  void studio.begin(preset);
}

/** The list of presets, with a line for a scenario of one's own while it is that one. */
function presets(): void {
  const options = PRESETS.map(({ id, family, text }) => ({ value: id, text: storyOf(text).title, under: family }));
  const select = choice("Preset", options, studio.state.preset, begun);
  select.id = "preset";
  named("preset").replaceWith(select);
}

/** Its value for a scenario of one's own. */
const OWN = "own";

function listed(): void {
  const select = named<HTMLSelectElement>("preset");
  const own = select.querySelector(`option[value=${OWN}]`);
  const state = studio.valid;
  if (!state) return;
  if (state.text === undefined) own?.remove();
  else if (!own) select.prepend(make("option", { value: OWN }, "Your own scenario"));
  select.value = state.text === undefined ? state.preset : OWN;
}

const editor = named<HTMLTextAreaElement>("scenario");
/** A text that was refused, and stays in the editor until another one runs. */
let draft: string | undefined;

/** The problems of a scenario; each leads to its place in the text. */
function tell(problems: Problem[]): void {
  const lines = problems.map(({ line, column, set, message, help }) => {
    const place = set === null ? `line ${line}, column ${column}` : `setting ${set + 1}`;
    const go = (): void => {
      editor.closest("details")?.setAttribute("open", "");
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

/** Says what a file is, where it is seen, and next to the field for files. */
function tellOf(file: File, text: string, ...ways: Way[]): void {
  const said = printable(`${file.name}: ${text}`);
  named("given").textContent = said;
  say(said, ...ways);
}

/** The bottleneck follows a trace. */
async function follow(file: File, mean: string, period: number): Promise<void> {
  const what = `a trace of ${mean} in the mean over ${period.toFixed(1)} s`;
  studio.files = { ...studio.files, [file.name]: await file.text() };
  const capacity = `{ kind = "trace", file = ${JSON.stringify(file.name)}, besides = "ignored" }`;
  const before = studio.valid ?? studio.state;
  const problems = await studio.load({ ...before, set: { ...before.set, capacity, "topology.rate": mean } });
  if (problems.length > 0) return tellOf(file, `${what}, which this scenario refuses: ${worded(problems)}. Nothing has changed.`);
  await studio.address.keep(before);
  studio.address.enter(before.preset);
  studio.address.save(studio.state);
  tellOf(file, `${what}, which the bottleneck follows now. Addresses do not carry it.`, { text: "Back to the link before", act: () => history.back() });
}

/** Reads a file that was dropped on the page, or chosen. */
async function take(files: FileList | null | undefined): Promise<void> {
  const [file] = files ?? [];
  if (!file) return say("Nothing that was dropped here is a file: drop a trace of a link, a capture, or qlog.");
  const others = (files?.length ?? 1) > 1 ? ` Of ${files?.length} files the first was read.` : "";
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = new Uint8Array(await file.arrayBuffer());
  } catch {
    return tellOf(file, `it cannot be read: drop a file, and not a folder.${others}`);
  }
  const { given, numbers } = await studio.clerk.given(bytes);
  if ("problems" in given) return tellOf(file, `it cannot be read: ${worded((given as Problems).problems)}.`);
  if (given.kind === "unknown") return tellOf(file, `${given.message}. Drop a trace of a link in a form that knee trace reads, a packet capture, or qlog.${others}`);
  if (given.kind === "trace") return follow(file, given.mean, given.period_s);
  const { connection, connections, packets, losses, lasted_s, samples } = given;
  const of = connections > 1 ? `, the greatest of ${connections} connections` : "";
  const what = `${connection}${of}: ${packets} packets in ${lasted_s.toFixed(1)} s, ${losses} lost.`;
  if (samples === 0) return tellOf(file, `${what} No acknowledgement in it has a round-trip time.${others}`);
  const every = Math.max(1, Math.ceil(samples / 1500));
  const points = (from: number): [number, number][] =>
    Array.from({ length: Math.floor(samples / every) }, (_, place) => [numbers[place * every] as number, numbers[from + place * every] as number]);
  const title = `Round-trip times in ${file.name}`;
  const series = [{ name: connection, rank: 0, points: points(samples) }];
  show(await studio.clerk.picture({ title, x: "time, s", y: "round-trip time, ms", series }), file.name);
  const seen = (): void => named("figure").scrollIntoView({ block: "center" });
  tellOf(file, `${what} Its round-trip times are a figure.${others}`, { text: "Show the figure", act: seen });
  seen();
}

let opening = 0;

/** Opens what an address says; what is damaged or refused is said, and what the page shows instead. */
async function open(fragment: string): Promise<void> {
  const turn = ++opening;
  const found = await stateOf(fragment);
  if (turn !== opening) return;
  const [before, state] = [studio.valid, found instanceof Damaged ? undefined : (found ?? fallback)];
  const problems = state ? await studio.load(state) : [];
  if (state && problems.length === 0) {
    quiet();
    return listed();
  }
  const refused = `${found ? "The address" : "The page"} has settings that are refused: ${state?.text === undefined ? worded(problems) : placed(problems)}.`;
  const why = found instanceof Damaged ? `The address is damaged: ${found.why}.` : refused;
  const plain = state && state.text === undefined ? state.preset : presetOf("").id;
  const instead: State = before && (!state || state.text !== undefined) ? before : { preset: plain, set: {} };
  await studio.load(instead);
  const title = storyOf(textOf(instead)).title;
  say(`${printable(why)} ${instead === before ? `The page stays at: ${title}.` : `Opened instead: ${title}, unchanged.`}`);
  listed();
  if (state?.text === undefined) return;
  // The refused text is there to be mended.
  [draft, editor.value] = [state.text, state.text];
  tell(problems);
}

studio.onproblems = tell;
studio.onsettled = () => {
  listed();
  void studio.written().then((text) => {
    if (document.activeElement !== editor && draft === undefined) editor.value = text;
  });
};
studio.onlost = (problems) => {
  const instead = { preset: presetOf("").id, set: {} };
  say(`The scenario of the address gave no results: ${printable(worded(problems))}. Opened instead: ${storyOf(textOf(instead)).title}.`);
  void studio.load(instead);
};

named("stop").addEventListener("click", () => void studio.stop());
named("add").addEventListener("click", () => studio.add());
named("reset").addEventListener("click", () => begun(studio.state.preset));
named<HTMLInputElement>("seed").addEventListener("input", (event) => void studio.seedWith((event.target as HTMLInputElement).value));
named("apply").addEventListener("click", () => {
  draft = undefined;
  void studio.write(editor.value);
});
named("as-command").addEventListener("click", () => void studio.written().then((text) => copy(command(text, studio.seed), "Command")));
named("as-scenario").addEventListener("click", () => void studio.written().then((text) => copy(text, "Scenario")));
named("as-python").addEventListener("click", () => void studio.written().then((text) => copy(python(text, studio.seed), "Program")));
named("as-address").addEventListener("click", async () => {
  // What is seen now: the bar follows a moment later.
  const fragment = await fragmentOf(studio.valid ?? studio.state);
  await copy(`${location.href.replace(/#.*/s, "")}#${fragment}`, "Address");
});
named("figures").append(...PANELS.map(({ title }, place) => button(title, () => void figure(place))));
named<HTMLInputElement>("file").addEventListener("change", (event) => {
  const field = event.target as HTMLInputElement;
  // The same file may be chosen again, mended.
  void take(field.files).then(() => (field.value = ""));
});
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  void take(event.dataTransfer?.files);
});
// In a page of the book it is a figure: the charts and their sliders, and a link to all of it as it is.
if (self !== top) {
  document.documentElement.classList.add("framed");
  const whole = named<HTMLAnchorElement>("whole");
  whole.hidden = false;
  whole.addEventListener("click", () => (whole.href = location.href));
}
// Back and Forth in the history, and an address that is typed into the bar.
addEventListener("hashchange", () => void open(location.hash.slice(1)));

presets();
void open(location.hash.slice(1));
