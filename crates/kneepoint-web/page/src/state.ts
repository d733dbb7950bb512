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

/** Why an address opens nothing. */
export class Damaged {
  constructor(readonly why: string) {}
}

/** The greatest seed that the page offers. */
export const GREATEST_SEED = 999_999_999;

export const isSeed = (seed: number): boolean => Number.isInteger(seed) && seed >= 0 && seed <= GREATEST_SEED;

/** A copy, which later changes leave as it is. */
export const copyOf = (state: State): State => ({ ...state, set: { ...state.set } });

/** The part of a state that decides what a run does. */
export const keyOf = ({ preset, text, set, seed }: State): string => JSON.stringify([preset, text, set, seed]);

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

/** The line that the engine writes at the top of a text of which fields are set. */
const SET = /^# Set from outside: .*\n/;

/** The comment at the top of a scenario, line by line. */
function commentOf(text: string): string[] {
  const lines = text.replace(SET, "").split("\n");
  const end = lines.findIndex((line) => !line.startsWith("#"));
  return lines.slice(0, end < 0 ? 0 : end);
}

/** The title and the story of a scenario: its name, and the comment at its top. */
export function storyOf(text: string): { title: string; story: string } {
  const story = commentOf(text).map((line) => line.replace(/^# ?/, ""));
  const title = /^name = "(.*)"$/m.exec(text)?.[1] ?? "A scenario of your own";
  return { title, story: story.join(" ").trim() };
}

/** A text that the engine has written, with the story of the one that it was made from. */
export const withStory = (written: string, from: string): string =>
  SET.test(written) ? [...commentOf(from), written.replace(SET, "")].join("\n") : written;

async function through(bytes: BlobPart, stream: CompressionStream | DecompressionStream): Promise<Uint8Array<ArrayBuffer>> {
  const piped = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(piped).arrayBuffer());
}

/** The fragment of an address. Its checksum is that of zlib: a letter that was lost or changed is noticed. */
export async function fragmentOf(state: State): Promise<string> {
  const short: Short = { p: state.preset };
  if (state.text !== undefined && state.text !== presetOf(state.preset).text) short.x = state.text;
  if (Object.keys(state.set).length > 0) short.s = state.set;
  if (state.seed !== undefined) short.n = state.seed;
  if (state.at !== undefined) short.t = Number(state.at.toPrecision(5));
  const deflated = await through(JSON.stringify(short), new CompressionStream("deflate"));
  // Letter by letter: a call takes some ten thousand arguments at most.
  const signs = Array.from(deflated, (byte) => String.fromCharCode(byte)).join("");
  return btoa(signs).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The first byte of what zlib deflates; addresses of the first version have no checksum. */
const ZLIB = 0x78;

async function inflated(fragment: string): Promise<unknown> {
  const text = atob(fragment.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(text, (sign) => sign.charCodeAt(0));
  const stream = new DecompressionStream(bytes[0] === ZLIB ? "deflate" : "deflate-raw");
  return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(await through(bytes, stream)));
}

const isTable = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/** The state that an address says, or what of it is none. */
function read(short: unknown): State | Damaged {
  if (!isTable(short) || typeof short["p"] !== "string") return new Damaged("it names no preset");
  const { p, x, s = {}, n, t } = short as Record<keyof Short, unknown>;
  if (!PRESETS.some((preset) => preset.id === p)) return new Damaged(`there is no preset “${String(p)}”`);
  const state: State = { preset: String(p), set: {} };
  if (!isTable(s) || !Object.values(s).every((value) => typeof value === "string")) return new Damaged("its settings are no texts");
  state.set = s as Record<string, string>;
  if (x !== undefined) {
    if (typeof x !== "string") return new Damaged("its scenario is no text");
    state.text = x;
  }
  if (n !== undefined) {
    if (typeof n !== "number" || !isSeed(n)) return new Damaged(`its seed is not a whole number from 0 to ${GREATEST_SEED.toLocaleString("en")}`);
    state.seed = n;
  }
  if (t !== undefined) {
    if (typeof t !== "number" || !(t >= 0)) return new Damaged("its instant is not a number of seconds");
    state.at = t;
  }
  return state;
}

/** The state in a fragment; nothing if it is empty. A plain word names a preset, and a report of `knee` has its scenario as it is. */
export async function stateOf(fragment: string): Promise<State | Damaged | undefined> {
  if (fragment === "") return undefined;
  if (PRESETS.some((preset) => preset.id === fragment)) return { preset: fragment, set: {} };
  if (fragment.startsWith("toml=")) {
    try {
      return { preset: presetOf("").id, text: decodeURIComponent(fragment.slice(5)), set: {} };
    } catch {
      return new Damaged("its scenario is cut within a letter");
    }
  }
  try {
    return read(await inflated(fragment));
  } catch {
    return new Damaged(/^[a-z0-9-]{1,30}$/.test(fragment) ? `there is no preset “${fragment}”` : "a part of it is missing or changed");
  }
}
