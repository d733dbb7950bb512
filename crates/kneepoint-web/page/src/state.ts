// SPDX-License-Identifier: Apache-2.0 OR MIT
// What is on the desk, and the address that says it: the difference to a preset, deflated, in the fragment.

import type { Checked, Preset } from "./types.ts";

export interface State {
  /** The preset that it began with. */
  preset: string;
  /** The scenario where it was edited by hand. */
  text?: string;
  /** Fields set from outside, by path. */
  set: Record<string, string>;
  seed?: number;
  /** The instant that is inspected, in seconds. */
  at?: number;
}

/** A state as an address has it. */
type Short = { p: string; x?: string; s?: Record<string, string>; n?: number; t?: number };

declare global {
  /** Put into the page when it is built. */
  const PRESETS: Preset[];
}

export const presetOf = (id: string): Preset => PRESETS.find((preset) => preset.id === id) ?? (PRESETS[0] as Preset);

export const textOf = (state: State): string => state.text ?? presetOf(state.preset).text;

/** What the engine answered about a preset that nobody has changed, when the page was built. */
export function checkedOf(state: State): Checked | undefined {
  if (state.text !== undefined || Object.keys(state.set).length > 0) return undefined;
  const { checked, text } = presetOf(state.preset);
  return { ...checked, text };
}

/** The published figure that a state is about; a text of one's own is about none. */
export const figureOf = (state: State): string | null => (state.text === undefined ? presetOf(state.preset).figure : null);

export const setOf = (state: State): string[] => Object.entries(state.set).map(([path, value]) => `${path}=${value}`);

/** The title and the story of a scenario: its name, and the comment at its top. */
export function storyOf(text: string): { title: string; story: string } {
  const lines = text.split("\n");
  const end = lines.findIndex((line) => !line.startsWith("#"));
  const story = lines.slice(0, end < 0 ? 0 : end).map((line) => line.replace(/^# ?/, ""));
  const title = /^name = "(.*)"$/m.exec(text)?.[1] ?? "A scenario of your own";
  return { title, story: story.join(" ").trim() };
}

async function through(bytes: BlobPart, stream: CompressionStream | DecompressionStream): Promise<Uint8Array<ArrayBuffer>> {
  const piped = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(piped).arrayBuffer());
}

/** The fragment of an address. */
export async function fragmentOf(state: State): Promise<string> {
  const short: Short = { p: state.preset };
  if (state.text !== undefined && state.text !== presetOf(state.preset).text) short.x = state.text;
  if (Object.keys(state.set).length > 0) short.s = state.set;
  if (state.seed !== undefined) short.n = state.seed;
  if (state.at !== undefined) short.t = Number(state.at.toPrecision(5));
  const deflated = await through(JSON.stringify(short), new CompressionStream("deflate-raw"));
  const text = btoa(String.fromCharCode(...deflated));
  return text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The state in a fragment; nothing if it has none. A plain word names a preset. */
export async function stateOf(fragment: string): Promise<State | undefined> {
  if (fragment === "") return undefined;
  if (PRESETS.some((preset) => preset.id === fragment)) return { preset: fragment, set: {} };
  try {
    // A report of `knee` has the scenario as it is.
    if (fragment.startsWith("toml=")) return { preset: presetOf("").id, text: decodeURIComponent(fragment.slice(5)), set: {} };
    const text = atob(fragment.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(text, (sign) => sign.charCodeAt(0));
    const inflated = await through(bytes, new DecompressionStream("deflate-raw"));
    const short = JSON.parse(new TextDecoder().decode(inflated)) as Short;
    const state: State = { preset: presetOf(short.p).id, set: short.s ?? {} };
    if (short.x !== undefined) state.text = short.x;
    if (short.n !== undefined) state.seed = short.n;
    if (short.t !== undefined) state.at = short.t;
    return state;
  } catch {
    return undefined;
  }
}
