// SPDX-License-Identifier: Apache-2.0 OR MIT
// Requests to the engine and its answers: crates/kneepoint-web/src documents each field.

export interface Question {
  text: string;
  set: string[];
  files: Record<string, string>;
  figure?: string;
  case?: number;
  seed?: number;
  instants?: number;
  followed?: number;
  packets?: number;
}

export interface Problem {
  line: number;
  column: number;
  set: number | null;
  message: string;
  help: string | null;
}

export type Problems = { problems: Problem[] };

export interface Case {
  settings: [string, string][];
  duration_s: number;
  groups: string[];
}

export type Tree = { [key: string]: Tree | Tree[] | string | number | boolean };

export interface Checked {
  name: string;
  text: string;
  tree: Tree;
  cases: Case[];
  seed: number;
}

export interface Row {
  labels: Record<string, string>;
  values: Record<string, number | null>;
}

export interface Column {
  quantity: string;
  subject: string;
  group: number | null;
  from: number;
  count: number;
}

export interface FilmHead {
  interval_s: number;
  intervals: number;
  link: string;
  rate_bps: number | null;
  delay_s: number;
  longest_wait_s: number;
  kept_until_s: number;
  columns: Column[];
}

export interface Answer {
  bottleneck_packets: number;
  events: number;
  hash: string;
  rows: Row[];
  film: FilmHead;
}

export interface Field {
  name: string;
  kind: string;
  default: string;
  range: string | null;
  choices: { name: string; about: string }[];
  about: string;
}

export interface Algorithm {
  name: string;
  summary: string;
  header: string;
  fields: Field[];
}

export interface Metric {
  key: string;
  title: string;
  unit: string;
  scale: number;
  brief: boolean;
  better: "less" | "more" | null;
}

export interface Catalogue {
  controllers: Algorithm[];
  queues: Algorithm[];
  channels: Algorithm[];
  metrics: { run: Metric[]; group: Metric[] };
}

export interface Preset {
  id: string;
  family: string;
  figure: string | null;
  text: string;
  /** What the engine answered about the text when the page was built. */
  checked: Omit<Checked, "text">;
}

/** Published numbers as their experiment has them. */
export type Published = number | string | Published[] | { [name: string]: Published };

/** A word of a publication that stands for a number in checks. */
export interface Word {
  name: string;
  value: number;
  about: string;
}

/** A comparison of a claim, and what came out at each point. */
export interface Check {
  text: string;
  at: { point: string; sides: [number | null, number | null]; holds: boolean }[];
}

export interface Told {
  id: string;
  text: string;
  verdict: "holds" | "fails" | "untestable";
  missing: string | null;
  part: boolean;
  points: [number, number];
  ours: [string, number | null][];
  published: Published | null;
  tolerance: string;
  checks: Check[];
  words: Word[];
}

export interface Judged {
  name: string;
  title: string;
  source: string;
  runs: number;
  axes: Record<string, string[]>;
  /** The longest run in seconds: of the shortened sweep, and of the publication. */
  longest_s: [quick: number, full: number];
  claims: Told[];
}

/** Runs to judge by: of the page's scenario, or without one of the figure's own sweep. */
export interface Trial {
  figure: string;
  question?: Question;
  runs: Row[][];
}

export type Given =
  | { kind: "trace"; form: string; mean: string; period_s: number }
  | {
      kind: "capture";
      connection: string;
      connections: number;
      bytes: number;
      packets: number;
      losses: number;
      lasted_s: number;
      samples: number;
    }
  | { kind: "unknown"; message: string };

export interface Picture {
  title: string;
  x: string;
  y: string;
  series: { name: string; rank: number; points: [number, number | null][] }[];
}
