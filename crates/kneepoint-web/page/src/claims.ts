// SPDX-License-Identifier: Apache-2.0 OR MIT
// The claims of the paper that a preset is about, judged by the engine: by the runs on the page, or by the figure's own sweep.

import { make, named } from "./dom.ts";
import { short } from "./paint.ts";
import { button } from "./player.ts";
import type { Setting } from "./setting.ts";
import { type Clerk, Sweep } from "./staff.ts";
import type { Check, Judged, Published, Question, Row, Told } from "./types.ts";

/** The scheme of the preset that a claim names, if the page has it no more. */
function lacking({ verdict, missing }: Told, gone: string[]): string | undefined {
  const named = verdict === "untestable" ? (/\[(.*)\]$/.exec(missing ?? "")?.[1] ?? "").split(", ") : [];
  return gone.find((one) => named.includes(one));
}

/** How a verdict reads, and its look. A claim of which the runs lack a point may hold or fail there. */
function verdict(claim: Told, swept: boolean, gone: string[]): [text: string, look: string] {
  const { verdict, part, missing } = claim;
  if (lacking(claim, gone)) return ["lacks a scheme", "open"];
  if (verdict === "untestable") return [missing !== null && !swept ? "needs the sweep" : "cannot be tested", "open"];
  const text = verdict === "holds" ? "holds" : "does not hold";
  return [part ? `${text} here` : text, verdict];
}

const number = (value: number | null | undefined): string => (value === null || value === undefined ? "–" : short(value));

/** Published numbers as they are printed. */
function written(published: Published): string {
  if (typeof published === "number" || typeof published === "string") return String(published);
  if (Array.isArray(published)) return published.map(written).join(", ");
  return Object.entries(published)
    .map(([name, value]) => `${name} ${written(value)}`)
    .join(", ");
}

/** The published number of a name, where there is one for each. */
function beside(published: Published | null, name: string, alone: boolean): Published | undefined {
  if (published === null) return undefined;
  if (typeof published === "object" && !Array.isArray(published)) return published[name];
  return alone ? published : undefined;
}

/** The tolerance of a claim, with the numbers that its words stand for. */
function tolerance({ tolerance, checks, words }: Told): string | undefined {
  if (checks.length === 0) return undefined;
  const given = words.map(({ name, value }) => `${name} = ${value}`).join(", ");
  return `Tolerance: ${tolerance || "none"}${given ? ` (${given})` : ""}.`;
}

/** What verdicts mean, of those that some claim has. */
const MEANINGS: [verdict: string, meaning: string][] = [
  ["holds here", "“Holds here”, “does not hold here”: the claim is about several points of the figure, and these runs have a part of them."],
  ["needs the sweep", "“Needs the sweep”: the claim compares points that these runs do not have."],
];

/** Whether a comparison holds at each of its points; unknown where the claim was not judged. */
const holds = ({ at }: Check): boolean | undefined => (at.length === 0 ? undefined : at.every((one) => one.holds));

/** At most this many points are named at which a comparison fails. */
const NAMED = 3;

/** A comparison, marked, with its own numbers. */
function compared(check: Check): HTMLElement {
  const met = holds(check);
  const code = make("code", {}, check.text);
  if (met === undefined) return make("p", { class: "check" }, code);
  const { at } = check;
  const sides = ([left, right]: (typeof at)[number]["sides"]): string => `left side ${number(left)}, right side ${number(right)}`;
  const failed = at.filter((one) => !one.holds);
  const where = failed.slice(0, NAMED).map((one) => `${one.point} (${sides(one.sides)})`);
  const others = failed.length > NAMED ? `, and ${failed.length - NAMED} more` : "";
  const [only] = at;
  const text = at.length === 1 && only ? sides(only.sides) : `at ${at.length - failed.length} of ${at.length} points${met ? "" : `; not at ${where.join(", ")}${others}`}`;
  return make(
    "p",
    { class: `check ${met ? "met" : "unmet"}` },
    make("span", { "aria-hidden": "true" }, met ? "✓ " : "✗ "),
    make("span", { class: "unseen" }, met ? "Holds: " : "Does not hold: "),
    code,
    make("small", {}, ` ${text}`),
  );
}

/** Our numbers, the published ones, and how they are compared. */
function numbers({ text, ours, published, checks, words }: Told): HTMLElement[] {
  const rows = ours.map(([name, value]) => ({ name, value, paper: beside(published, name, ours.length === 1) }));
  const paired = rows.some(({ paper }) => paper !== undefined);
  const head = make("tr", {}, make("td"), make("th", { scope: "col" }, "here"), paired ? make("th", { scope: "col" }, "published") : undefined);
  const lines = rows.map(({ name, value, paper }) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, /[[(]/.test(name) ? make("code", {}, name) : name),
      make("td", {}, number(value)),
      paired ? make("td", {}, paper === undefined ? "" : written(paper)) : undefined,
    ),
  );
  // What decided comes first.
  const decided = [...checks].sort((one, other) => Number(holds(one) ?? true) - Number(holds(other) ?? true));
  return [
    ...(checks.length > 0 ? [make("p", { class: "note" }, checks.length > 1 ? "All of these have to hold:" : "This has to hold:")] : []),
    ...decided.map(compared),
    ...(lines.length > 0
      ? [make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Numbers: ${text}` }, make("table", {}, make("thead", {}, head), make("tbody", {}, ...lines)))]
      : []),
    ...(published !== null && !paired ? [make("p", { class: "note" }, `Published: ${written(published)}.`)] : []),
    ...words.map(({ name, value, about }) => make("p", { class: "note" }, `${name} = ${value}: ${about}.`)),
  ];
}

const seconds = (time: number): string => `${short(time)} s`;

/** The runs that judged, and whether the publication's are longer. */
function runs({ runs, longest_s: [quick, full] }: Judged, duration: number | undefined): string {
  const by = duration === undefined ? `the ${runs} runs of the figure's own sweep, with one seed, shortened as with --quick` : "the runs above: one seed, and the scenario on this page instead of the paper's";
  const length = duration ?? quick;
  const differ = length < full ? ` They last ${seconds(length)}, the publication's ${seconds(full)}: verdicts on short runs can differ from its own.` : "";
  return `Judged by ${by}.${differ} What decides, at full length with all seeds: `;
}

export class Claims {
  readonly #section = named("claims");
  readonly #clerk: Clerk;
  /** Claims whose numbers are unfolded: a drag judges them again. */
  readonly #open = new Set<string>();
  #sweep: Sweep | undefined;
  #busy = false;
  #next: (() => void) | undefined;

  constructor(clerk: Clerk) {
    this.#clerk = clerk;
  }

  /** Judges by the runs on the page; without a figure there is nothing to judge. */
  live(figure: string | null, question: Question, setting: Setting, runs: Row[][]): void {
    this.#sweep?.stop();
    this.#sweep = undefined;
    this.#section.hidden = figure === null;
    if (figure === null) return;
    // Of several questions the one under way and the last are answered.
    const ask = (): void => {
      this.#busy = true;
      void this.#clerk.judge({ figure, question, runs }).then((judged) => {
        this.#busy = false;
        const next = this.#next;
        this.#next = undefined;
        if (next) next();
        else if (!("problems" in judged) && !this.#sweep) this.#show(judged, setting);
      });
    };
    if (this.#busy) this.#next = ask;
    else ask();
  }

  /** Verdicts of a setting of the page, or without one of the figure's sweep. */
  #show(judged: Judged, setting: Setting | undefined): void {
    const [swept, gone] = [setting === undefined, setting?.gone ?? []];
    named("claims-source").textContent = `${judged.title}. ${judged.source}.`;
    named("claims-how").replaceChildren(runs(judged, setting?.duration), make("code", {}, `knee reproduce ${judged.name}`));
    // Another point of the figure's own sweep is still a setting of the figure.
    const changed = (setting?.changed ?? []).filter(({ path, written }) => !judged.axes[path]?.includes(written));
    named("claims-setting").hidden = changed.length === 0;
    named("claims-setting").textContent = `This setting is no longer the figure's: ${changed.map(({ text }) => text).join(", ")}.`;
    named("claims-list").replaceChildren(...judged.claims.map((claim) => this.#claim(claim, swept, gone)));
    const verdicts = judged.claims.map((claim) => verdict(claim, swept, gone)[0].replace("does not hold", "holds"));
    named("claims-words").replaceChildren(...MEANINGS.filter(([word]) => verdicts.includes(word)).map(([, meaning]) => make("span", {}, meaning)));
    const run = button(`Run the figure's own sweep: ${judged.runs} runs`, () => this.#run(judged));
    named("claims-sweep").replaceChildren(...(swept ? [] : [run]));
  }

  #claim(claim: Told, swept: boolean, gone: string[]): HTMLElement {
    const [text, look] = verdict(claim, swept, gone);
    const [points, good] = claim.points;
    const failed = claim.checks.filter((check) => holds(check) === false).length;
    const which = failed > 0 && claim.checks.length > 1 ? `; ${failed} of ${claim.checks.length} checks ${failed > 1 ? "fail" : "fails"}` : "";
    const lost = lacking(claim, gone)?.replace(/^.*?=/, "");
    const details: HTMLDetailsElement = make(
      "details",
      {
        open: this.#open.has(claim.id),
        ontoggle: () => {
          if (details.open) this.#open.add(claim.id);
          else this.#open.delete(claim.id);
        },
      },
      make("summary", {}, points > 1 ? `Numbers and checks; it holds at ${good} of ${points} points` : `Numbers and checks${which}`),
      ...numbers(claim),
    );
    const some = claim.ours.length > 0 || claim.published !== null || claim.checks.length > 0;
    const allowed = tolerance(claim);
    const lack = lost ? make("p", { class: "note" }, `It names ${lost}, which the page has no more. Choose it as a scheme again, or take Reset.`) : undefined;
    const about = make("div", {}, make("p", {}, claim.text), lack, allowed ? make("p", { class: "note" }, allowed) : undefined, some ? details : undefined);
    return make("li", {}, make("span", { class: `verdict ${look}` }, text), about);
  }

  /** Runs the sweep of the figure, and judges by it until the scenario changes. */
  #run(judged: Judged): void {
    const said = make("span", { role: "status" });
    const bar = make("progress", { max: judged.runs, value: 0, "aria-label": "Runs of the sweep" });
    named("claims-sweep").replaceChildren(bar, said);
    const sweep = new Sweep(judged.name, judged.runs, (done) => {
      bar.value = done;
      said.textContent = `${done} of ${judged.runs} runs`;
    });
    this.#sweep = sweep;
    void sweep.rows.then(async (runs) => {
      const swept = await this.#clerk.judge({ figure: judged.name, runs });
      if (this.#sweep === sweep && !("problems" in swept)) this.#show(swept, undefined);
    });
  }
}
