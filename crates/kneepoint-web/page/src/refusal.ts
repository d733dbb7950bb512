// SPDX-License-Identifier: Apache-2.0 OR MIT
// Why a setting is refused, in words of the page: which control, its value, the values that it may have here, and the ways out.

import { type Knob, knobsOf, placesOf, sliderOf } from "./knobs.ts";
import { printable } from "./notice.ts";
import { axisOf } from "./schemes.ts";
import type { State } from "./state.ts";
import type { Checked, Problem, Problems } from "./types.ts";

/** A state that the engine took. */
export interface Valid {
  state: State;
  checked: Checked;
}

export interface Refusal {
  /** Field, value, problem, allowed range, remedy. */
  sentence: string;
  /** The paths of the fields that are refused. */
  paths: string[];
  /** Their values before. */
  before: string;
  /** The way back to them, where it is more than that. */
  back?: string;
  /** The nearest value that is accepted, where a slider has one. */
  nearest?: { path: string; written: string; shown: string };
}

type Check = (state: State) => Promise<Checked | Problems>;

const refused = (answer: Checked | Problems): boolean => "problems" in answer;

const withField = (state: State, path: string, written: string): State => ({ ...state, set: { ...state.set, [path]: written } });

/** Fields that are refused by themselves; all that changed where only their combination is. */
async function culprits(state: State, valid: State, check: Check): Promise<string[]> {
  const changed = Object.keys(state.set).filter((path) => state.set[path] !== valid.set[path]);
  if (changed.length < 2) return changed;
  const alone = await Promise.all(changed.map(async (path) => refused(await check(withField(valid, path, state.set[path] as string)))));
  const guilty = changed.filter((_, place) => alone[place]);
  return guilty.length > 0 ? guilty : changed;
}

/** The values of a slider that are accepted, by bisection between the previous value and the refused one. */
async function range(knob: Knob, wanted: number, valid: State, check: Check): Promise<{ text: string; nearest: Refusal["nearest"] }> {
  const { of, at, last } = placesOf(knob);
  const accepts = async (place: number): Promise<boolean> => !refused(await check(withField(valid, knob.path, knob.written(at(place)))));
  let [good, bad] = [of(knob.value), wanted];
  while (Math.abs(bad - good) > 1) {
    const middle = Math.round((good + bad) / 2);
    if (await accepts(middle)) good = middle;
    else bad = middle;
  }
  const shown = (place: number): string => knob.shown(knob.whole ? Math.round(at(place)) : at(place));
  const end = bad < good ? last : 0;
  const far = (await accepts(end)) ? shown(end) : undefined;
  const text = bad < good ? `from ${shown(good)}${far ? ` to ${far}` : ""}` : `${far ? `from ${far} ` : ""}to ${shown(good)}`;
  return { text, nearest: { path: knob.path, written: knob.written(at(good)), shown: shown(good) } };
}

/** The schemes whose words differ. */
function schemes(written: string, checked: Checked): string {
  try {
    const values = JSON.parse(written) as unknown[];
    const before = new Set((axisOf(checked.tree)?.values ?? []).map(String));
    const other = values.map((value, place) => ({ value: String(value), place })).filter(({ value }) => !before.has(value));
    if (other.length > 0) return other.map(({ value, place }) => `scheme ${place + 1}, ${value},`).join(" and ");
  } catch {
    // A text that is no list is named as it is.
  }
  return written;
}

/** The schemes before a change that is refused, and the way back to them. */
export function schemesBefore(checked: Checked | undefined): Pick<Refusal, "before" | "back"> {
  const values = checked ? (axisOf(checked.tree)?.values ?? []) : [];
  return { before: `the schemes ${values.map(String).join(", ")}`, back: "Back to the schemes before this change" };
}

/** A problem and its remedy; of several the first, and how many more there are. */
export function worded(problems: Problem[]): string {
  const [first] = problems;
  if (!first) return "the engine gives no reason";
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  return `${first.message}${more}${first.help ? `; ${first.help}` : ""}`;
}

/** The same with its place in the text. */
export function placed(problems: Problem[]): string {
  const [first] = problems;
  return `${first && first.set === null ? `line ${first.line}, column ${first.column}: ` : ""}${worded(problems)}`;
}

export async function explain(state: State, { state: valid, checked }: Valid, problems: Problem[], check: Check): Promise<Refusal> {
  if (state.text !== valid.text || state.preset !== valid.preset) {
    return { sentence: printable(`The text is refused: ${placed(problems)}.`), paths: [], before: checked.name, back: "Discard the text" };
  }
  const paths = await culprits(state, valid, check);
  const knobs = knobsOf(checked.tree);
  const named = paths.map((path): Pick<Refusal, "before" | "back"> & { name: string } => {
    const written = state.set[path] ?? "";
    const knob = knobs.find((one) => one.path === path);
    if (knob) return { name: `${knob.label} ${knob.read(written)}`, before: `${knob.label.toLowerCase()} ${knob.shown(knob.value)}` };
    return path.startsWith("sweep.")
      ? { name: schemes(written, checked), ...schemesBefore(checked) }
      : { name: `${path} = ${written}`, before: `${path} as it was` };
  });
  const sentence = `${named.map(({ name }) => name).join(" and ")} ${paths.length > 1 ? "are" : "is"} refused: ${worded(problems)}.`;
  const refusal: Refusal = {
    sentence: printable(sentence.charAt(0).toUpperCase() + sentence.slice(1)),
    paths,
    before: named.map(({ before }) => before).join(" and "),
  };
  const [{ back } = { back: undefined }] = named;
  if (named.length === 1 && back) refusal.back = back;
  const knob = knobs.find(({ path }) => path === paths[0]);
  const control = document.getElementById(sliderOf(knob?.path ?? ""));
  if (paths.length !== 1 || !knob || !(control instanceof HTMLInputElement)) return refusal;
  const { text, nearest } = await range(knob, Number(control.value), valid, check);
  refusal.sentence += ` ${knob.label} can be set ${text} here.`;
  if (nearest && nearest.shown !== knob.shown(knob.value)) refusal.nearest = nearest;
  return refusal;
}
