// SPDX-License-Identifier: Apache-2.0 OR MIT
// The sliders: which fields of a scenario have one, and the values that it writes into them.

import { make } from "./dom.ts";
import type { Tree } from "./types.ts";

/** A number that can be dragged. */
export interface Knob {
  label: string;
  path: string;
  value: number;
  least: number;
  most: number;
  /** The value as a scenario writes it. */
  written: (value: number) => string;
  /** The value as people read it. */
  shown: (value: number) => string;
  /** A written value as people read it. */
  read: (written: string) => string;
  /** Whether its numbers are whole. */
  whole?: boolean;
  /** Whether equal steps of the slider add, instead of multiplying. */
  linear?: boolean;
  /** What its unit means. */
  about?: string;
  /** Whether zero is at its left end. */
  zero?: boolean;
}

const STEPS = 240;

/** To two digits, or three from 10 on: the resolution of a slider of some hundred steps. */
const tidy = (value: number): number => Number(value.toPrecision(value >= 10 ? 3 : 2));

const UNITS: Record<string, number> = {
  bit: 1, kbit: 1e3, mbit: 1e6, gbit: 1e9, us: 1e-6, ms: 1e-3, s: 1, min: 60, bdp: 1, pkt: 1, kb: 1, mb: 1e3,
};

/** `12.5mbit` as a number of its smallest unit and that unit. */
function quantity(text: unknown): { value: number; unit: string } | undefined {
  const found = /^([\d.]+) ?([a-z]+)$/i.exec(String(text));
  const unit = found?.[2]?.toLowerCase() ?? "";
  return found && unit in UNITS ? { value: Number(found[1]) * (UNITS[unit] as number), unit } : undefined;
}

const rate = (exact: number): string => {
  const bits = tidy(exact);
  const [factor, unit] = bits >= 1e9 ? [1e9, "gbit"] : bits >= 1e6 ? [1e6, "mbit"] : [1e3, "kbit"];
  return `${tidy(bits / (factor as number))}${unit}`;
};
const time = (seconds: number): string => (tidy(seconds * 1e3) >= 1000 ? `${tidy(seconds)}s` : `${tidy(seconds * 1e3)}ms`);
const people = (written: string): string =>
  written.replace(/([a-z]+)$/, (unit) => ` ${unit.replace(/^(k|m|g)bit$/, (_, size: string) => `${size === "k" ? "k" : size.toUpperCase()}bit/s`)}`);

function part(tree: Tree, key: string): Tree | undefined {
  const value = tree[key];
  return typeof value === "object" && !Array.isArray(value) ? value : undefined;
}

function groupsOf(tree: Tree, section: string): Tree[] {
  const value = tree[section];
  return Array.isArray(value) ? value : [];
}

/** A knob of a quantity with a unit, if the scenario has it. */
function withUnit(label: string, path: string, text: unknown, range: [number, number], written: (value: number) => string): Knob[] {
  const found = quantity(text);
  if (!found) return [];
  return [{ label, path, value: found.value, least: range[0], most: range[1], written, shown: (value) => people(written(value)), read: people }];
}

function buffers(text: unknown): Knob[] {
  const found = quantity(text);
  if (!found || !["bdp", "pkt"].includes(found.unit)) return [];
  const written = (value: number): string => `${found.unit === "pkt" ? Math.round(value) : tidy(value)}${found.unit}`;
  const [least, most] = found.unit === "bdp" ? [0.05, 20] : [2, 4000];
  const knob = { label: "Buffer", path: "topology.buffer", value: found.value, least, most, written, shown: (value: number) => people(written(value)), read: people };
  return [found.unit === "bdp" ? { ...knob, about: "1 bdp (bandwidth-delay product) = rate × round-trip time: what is on the way while the queue is empty" } : knob];
}

function counts(tree: Tree): Knob[] {
  const kinds = [
    ["flows", "count", "flow"],
    ["web", "sessions", "session"],
    ["vod", "count", "viewer"],
    ["video", "count", "stream"],
  ] as const;
  return kinds.flatMap(([section, field, noun]) =>
    groupsOf(tree, section).map((group): Knob => {
      const name = String(group["name"] ?? section);
      const several = kinds.reduce((sum, [other]) => sum + groupsOf(tree, other).length, 0) > 1;
      const written = (value: number): string => String(Math.max(1, Math.round(value)));
      const label = several ? name : "Flows";
      const shown = (count: number): string => `${written(count)} ${noun}${Math.round(count) > 1 ? "s" : ""}`;
      const read = (written: string): string => shown(Number(written));
      const value = Number(group[field] ?? 1);
      return { label, path: `${section}.${name}.${field}`, value, least: 1, most: 1000, written, shown, read, whole: true };
    }),
  );
}

function losses(tree: Tree): Knob[] {
  const loss = tree["loss"];
  const uniform = /^uniform:p=([\d.e-]+)$/.exec(String(loss ?? "uniform:p=0"));
  if (!uniform) return [];
  const written = (value: number): string => (value === 0 ? "none" : `uniform:p=${tidy(value)}`);
  const shown = (value: number): string => `${tidy(value * 100)} %`;
  const read = (written: string): string => shown(Number(written.split("=")[1] ?? 0));
  return [
    { label: "Random loss", path: "loss", value: Number(uniform[1]), least: 1e-5, most: 0.1, written, shown, read, zero: true },
  ];
}

/** How often sessions come to a capacity that others share. */
function arrivals(tree: Tree): Knob[] {
  const value = part(tree, "capacity")?.["arrivals"];
  if (typeof value !== "number") return [];
  const written = (value: number): string => String(tidy(value));
  return [{ label: "Arrivals", path: "capacity.arrivals", value, least: 1e-3, most: 10, written, shown: (value) => `${written(value)} a second`, read: (written) => `${written} a second` }];
}

/** The knobs of a scenario, in the order in which they stand. */
export function knobsOf(tree: Tree): Knob[] {
  const [topology, run] = [part(tree, "topology") ?? {}, part(tree, "run") ?? {}];
  return [
    ...(tree["capacity"] === undefined ? withUnit("Rate", "topology.rate", topology["rate"], [1e5, 1e9], rate) : []),
    ...withUnit("Round-trip time", "topology.rtt", topology["rtt"], [1e-3, 1], time),
    ...withUnit("Delay of a hop", "topology.hop_delay", topology["hop_delay"], [1e-4, 0.5], time),
    ...buffers(topology["buffer"]),
    ...arrivals(tree),
    ...counts(tree),
    ...losses(tree),
    ...withUnit("Duration", "run.duration", run["duration"], [1, 300], (seconds) => `${tidy(seconds)}s`),
  ];
}

/** Where a slider stands for a value, and back; and its last place. */
export function placesOf({ least, most, zero, value: own }: Knob): { of: (value: number) => number; at: (place: number) => number; last: number } {
  const first = zero ? 1 : 0;
  const span = Math.log(most / least);
  const of = (value: number): number =>
    zero && value <= 0 ? 0 : Math.min(STEPS, first + Math.round(((STEPS - first) * Math.log(Math.max(value, least) / least)) / span));
  // Its own value may lie between two places, and is that of the nearer one.
  const at = (place: number): number => {
    if (place === of(own) && own >= (zero ? 0 : least) && own <= most) return own;
    if (zero && place === 0) return 0;
    const exact = least * Math.exp((span * (place - first)) / (STEPS - first));
    // A number of one digit, such as 8, is where people look for it.
    const round = Number(exact.toPrecision(1));
    return round >= least && round <= most && of(round) === place ? round : exact;
  };
  return { of, at, last: STEPS };
}

/** The name of a slider's element. */
export const sliderOf = (path: string): string => `knob-${path}`;

/** A slider with its name and its value. */
export function slider(knob: Knob, onset: (path: string, written: string) => void): HTMLElement {
  const { of, at } = placesOf(knob);
  const id = sliderOf(knob.path);
  const output = make("output", { for: id }, knob.shown(knob.value));
  const input = make("input", {
    id,
    type: "range",
    min: 0,
    max: STEPS,
    value: of(knob.value),
    "aria-valuetext": knob.shown(knob.value),
    "data-path": knob.path,
    oninput: () => {
      const value = at(Number(input.value));
      output.value = knob.shown(knob.whole ? Math.round(value) : value);
      input.setAttribute("aria-valuetext", output.value);
      onset(knob.path, knob.written(value));
    },
  });
  const about = knob.about ? make("small", { id: `${id}-about` }, knob.about) : undefined;
  if (about) input.setAttribute("aria-describedby", about.id);
  return make("div", { class: "knob" }, make("label", { for: id }, knob.label), output, input, about);
}
