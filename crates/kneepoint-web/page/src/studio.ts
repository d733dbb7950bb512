// SPDX-License-Identifier: Apache-2.0 OR MIT
// The state of the page, and what follows from it: every change simulates every scheme again. What the engine refuses stays in the
// controls and nowhere else: results, address and copies are those of the last setting that it took.

import { Address } from "./address.ts";
import { scalesOf, type Scales } from "./charts.ts";
import { Claims } from "./claims.ts";
import { Column } from "./column.ts";
import { named } from "./dom.ts";
import type { Film } from "./film.ts";
import { knobsOf, slider, sliderOf } from "./knobs.ts";
import { accept, blame, mark, refuse, type Way } from "./notice.ts";
import { onTheme } from "./paint.ts";
import { Player } from "./player.ts";
import { questionOf, scenarioOf } from "./question.ts";
import { explain, type Refusal, schemesBefore, type Valid } from "./refusal.ts";
import { effort, overflows, results } from "./results.ts";
import { another, type Axis, axisOf, editable } from "./schemes.ts";
import { settingOf } from "./setting.ts";
import { Clerk } from "./staff.ts";
import { checkedOf, copyOf, figureOf, GREATEST_SEED, isSeed, keyOf, presetOf, type State, storyOf, textOf, withStory } from "./state.ts";
import type { Catalogue, Checked, Problem, Problems } from "./types.ts";

const MOST_COLUMNS = 4;
/** The instant that is shown first: at the beginning nothing is to be seen. */
const IN_THE_MIDDLE = 0.4;
/** A refusal that stands for this long is explained, in milliseconds: a slider may be on its way. */
const SETTLED = 120;
/** After this long without new results the old ones are marked, in milliseconds. */
const LATE = 400;

export class Studio {
  readonly clerk = new Clerk();
  readonly address = new Address();
  readonly #claims = new Claims(this.clerk);
  readonly player: Player;
  /** What the controls say. */
  state: State;
  files: Record<string, string> = {};
  columns: Column[] = [];
  #catalogue: Catalogue | undefined;
  #scales: Scales = [];
  #drawing = false;
  #learning = false;
  /** The last state that the engine took, and the last whose results are on the page. */
  #valid: Valid | undefined;
  #good: Valid | undefined;
  /** The films of the latter. */
  #films: Film[] = [];
  #refused = false;
  /** The control of a scheme that was changed last. */
  #edited: HTMLElement | undefined;
  /** The key of the state whose films are on the page, and of the one whose runs failed. */
  #shown = "";
  /** The key of the state that is being simulated. */
  #running = "";
  #failed: { key: string; problems: Problem[] } | undefined;
  #begun = 0;
  #asked = 0;
  #round = 0;
  #explaining: ReturnType<typeof setTimeout> | undefined;
  #late: ReturnType<typeof setTimeout> | undefined;
  /** Called when all schemes of a change have been simulated. */
  onsettled: () => void = () => {};
  onproblems: (problems: Problem[]) => void = () => {};
  /** Called when a state has no results, and there are no earlier ones. */
  onlost: (problems: Problem[]) => void = () => {};

  constructor(state: State) {
    this.state = state;
    this.player = new Player((at) => {
      this.#point(at);
      this.state.at = at;
      if (!this.#valid) return;
      this.#valid.state.at = at;
      if (!this.player.playing) this.address.save(this.#valid.state);
    });
    named("columns").addEventListener("change", (event) => (this.#edited = event.target as HTMLElement), { capture: true });
    onTheme(() => this.#draw());
    new ResizeObserver(() => {
      this.#draw();
      overflows();
    }).observe(named("columns"));
  }

  get checked(): Checked | undefined {
    return this.#valid?.checked;
  }

  /** The state of the results: what an address says. */
  get valid(): State | undefined {
    return this.#valid?.state;
  }

  get seed(): number {
    return this.#valid?.state.seed ?? this.checked?.seed ?? 1;
  }

  get labels(): string[] {
    return (this.checked?.cases ?? []).map(({ settings }, place) => settings.map(([, value]) => value).join(", ") || (this.checked?.name ?? String(place + 1)));
  }

  get axis(): Axis | undefined {
    return this.checked ? axisOf(this.checked.tree) : undefined;
  }

  /** Begins with another state; if it has problems, the page stays as it was. */
  async load(state: State): Promise<Problem[]> {
    const [before, next] = [this.state, copyOf(state)];
    this.address.stop();
    this.player.pause();
    this.state = next;
    const problems = await this.#check(true);
    // Another one may have been loaded meanwhile.
    if (this.state !== next) return [];
    if (problems.length > 0) this.state = before;
    else this.player.seek(state.at ?? IN_THE_MIDDLE * (this.checked?.cases[0]?.duration_s ?? 0));
    return problems;
  }

  /** A preset as it is, in an entry of its own of the browser's history. */
  async begin(preset: string): Promise<void> {
    const begun = ++this.#begun;
    if (this.valid) await this.address.keep(this.valid);
    // Of several that are chosen one after another at once the last counts.
    if (begun !== this.#begun) return;
    this.address.enter(preset);
    await this.load({ preset, set: {} });
  }

  /** Sets a field from outside, as the sliders do. */
  async set(path: string, written: string): Promise<void> {
    this.state.set = { ...this.state.set, [path]: written };
    this.#run();
    await this.#try(false);
  }

  /** Takes a seed as it was typed. */
  async seedWith(typed: string): Promise<void> {
    const seed = typed.trim() === "" ? Number.NaN : Number(typed);
    if (!isSeed(seed)) {
      this.#round += 1;
      const which = typed.trim() === "" ? "An empty seed" : `Seed ${typed}`;
      return this.#mark({
        sentence: `${which} is refused: a seed is a whole number from 0 to ${GREATEST_SEED.toLocaleString("en")}.`,
        paths: ["seed"],
        before: `seed ${this.seed}`,
      });
    }
    this.state.seed = seed;
    this.#run();
    await this.#try(false);
  }

  /** Takes a text instead of preset and fields. */
  async write(text: string): Promise<void> {
    this.state = { ...this.state, set: {} };
    // A text has its own seed.
    delete this.state.seed;
    if (text === presetOf(this.state.preset).text) delete this.state.text;
    else this.state.text = text;
    await this.#try(true);
  }

  /** The scenario of the results as a text that has all that they depend on: fields, story and seed. */
  async written(): Promise<string> {
    const valid = this.#valid;
    if (!valid) return "";
    const { state, checked } = valid;
    const scenario = scenarioOf(state, this.files);
    const seeded = state.seed === undefined ? checked : await this.clerk.check({ ...scenario, set: [...scenario.set, `run.seed=${state.seed}`] });
    return withStory("problems" in seeded ? checked.text : seeded.text, textOf(state));
  }

  async learn(): Promise<void> {
    this.#catalogue = await this.clerk.catalogue();
    this.#heads();
    this.#draw();
    this.#settle();
  }

  /** Reads a change of the controls, and marks the results if it is refused. */
  async #try(anew: boolean): Promise<void> {
    const problems = await this.#check(anew);
    if (problems.length > 0) this.#refuse(problems);
  }

  /** Reads the scenario; with `anew`, sliders are made again and everything runs. The problems of the latest state, if it has some. */
  async #check(anew: boolean, run = anew): Promise<Problem[]> {
    const round = ++this.#round;
    const state = this.state;
    const checked = checkedOf(state) ?? (await this.clerk.check(scenarioOf(state, this.files)));
    if (round !== this.#round) return [];
    if ("problems" in checked) return checked.problems;
    const cases = this.checked?.cases.length;
    this.#valid = { state: copyOf(state), checked };
    this.#accept();
    this.player.duration = checked.cases[0]?.duration_s ?? 1;
    if (anew) this.#controls();
    this.#heads();
    // A text or a preset waits for nothing; a slider that is dragged waits for the picture before.
    if (run) for (const column of this.columns) column.stop();
    if (run || (!anew && cases !== checked.cases.length)) this.#run();
    else this.#settle();
    this.address.save(this.#valid.state);
    return [];
  }

  /** What the controls say is refused: what is on the page belongs to the last state that was not. */
  #refuse(problems: Problem[]): void {
    this.onproblems(problems.filter(({ set }) => set === null && this.state.text !== undefined));
    const valid = this.#valid;
    if (!valid) return;
    this.#refused = true;
    mark("Results of the last valid setting.");
    const key = keyOf(valid.state);
    if (this.#shown !== key && this.#running !== key) this.#run(valid.state);
    const round = this.#round;
    clearTimeout(this.#explaining);
    this.#explaining = setTimeout(async () => {
      const check = (state: State): Promise<Checked | Problems> => this.clerk.check(scenarioOf(state, this.files));
      const refusal = await explain(copyOf(this.state), valid, problems, check);
      if (round === this.#round) this.#mark(refusal);
    }, SETTLED);
  }

  /** Says what is refused, marks its controls and the results, and offers ways out. */
  #mark({ sentence, paths, before, back = `Back to ${before}`, nearest }: Refusal): void {
    this.#refused = true;
    const idOf = (path: string): string => (path === "seed" ? path : sliderOf(path));
    const controls = paths.map((path) => (path.startsWith("sweep.") ? this.#edited : document.getElementById(idOf(path))));
    blame(controls);
    // The button is gone then: its reader is led to the control.
    const after = (act: Promise<void>): void => void act.then(() => document.getElementById(idOf(paths[0] ?? ""))?.focus());
    const ways: Way[] = nearest ? [{ text: `Take ${nearest.shown}`, act: () => after(this.#amend(nearest.path, nearest.written)) }] : [];
    refuse(`${sentence} The page shows ${before}.`, ...ways, { text: back, act: () => after(this.restore()) });
    mark(`Results of the last valid setting: ${before}.`);
  }

  #accept(): void {
    clearTimeout(this.#explaining);
    this.#refused = false;
    this.onproblems([]);
    accept();
    const seed = named<HTMLInputElement>("seed");
    if (document.activeElement !== seed) seed.value = String(this.seed);
  }

  /** Goes back to the last state that was not refused. */
  async restore(): Promise<void> {
    if (!this.#valid) return;
    this.state = copyOf(this.#valid.state);
    for (const { head } of this.columns) head.forget();
    await this.#try(true);
  }

  async #amend(path: string, written: string): Promise<void> {
    this.state.set = { ...this.state.set, [path]: written };
    await this.#try(true);
  }

  #controls(): void {
    const { title, story } = storyOf(textOf(this.state));
    named("title").textContent = title;
    named("story").textContent = story;
    document.title = `${title} – Kneepoint studio`;
    named("knobs").replaceChildren(...knobsOf(this.checked?.tree ?? {}).map((knob) => slider(knob, (path, written) => void this.set(path, written))));
    named<HTMLInputElement>("seed").value = String(this.seed);
  }

  /** A column for each case, with its description. */
  #heads(): void {
    const count = Math.min(MOST_COLUMNS, this.checked?.cases.length ?? 0);
    while (this.columns.length > count) this.columns.pop()?.dismiss();
    while (this.columns.length < count) {
      const place = this.columns.length;
      const column = new Column(
        (at) => this.player.seek(at),
        () => void this.#remove(place),
        () => this.#draw(),
        (sentence) => this.#mark({ sentence, paths: ["sweep."], ...schemesBefore(this.checked) }),
      );
      this.columns.push(column);
      named("columns").append(column.element);
    }
    const axis = this.axis;
    this.columns.forEach((column, place) =>
      column.head.show(axis, place, this.labels[place] ?? "", this.#catalogue, (value) =>
        void this.#values((values) => values.map((old, other) => (other === place ? value : old))),
      ),
    );
    named("add").hidden = !editable(axis) || count >= MOST_COLUMNS;
    named("columns").dataset["count"] = String(count);
  }

  add(): void {
    const axis = this.axis;
    if (editable(axis)) void this.#values((values) => [...values, another(axis)]);
  }

  /** Removes a scheme; its button is gone then, and its reader is led to that of the next one, or to the way to have another. */
  async #remove(place: number): Promise<void> {
    await this.#values((values) => values.filter((_, other) => other !== place));
    const count = this.columns.length;
    if (count > 1) this.columns[Math.min(place, count - 1)]?.focus();
    else named("add").focus();
  }

  /** Changes the values of the axis that is swept. */
  async #values(change: (values: string[]) => string[]): Promise<void> {
    const axis = this.axis;
    if (!editable(axis)) return;
    const values = change(axis.values.map(String)).slice(0, MOST_COLUMNS);
    await this.set(`sweep.${axis.path}`, JSON.stringify(values));
  }

  /** Simulates every scheme. */
  #run(state: State = this.state): void {
    const checked = this.checked;
    if (!checked) return;
    const [asked, key, began] = [++this.#asked, keyOf(state), performance.now()];
    const duration = checked.cases[0]?.duration_s ?? 1;
    this.#failed = undefined;
    this.#running = key;
    clearTimeout(this.#late);
    this.#late = setTimeout(() => this.#wait(), LATE);
    let left = this.columns.length;
    let failed: Problem[] | undefined;
    this.columns.forEach((column, place) => {
      column.run(questionOf(state, this.files, place), duration, (problems) => {
        left -= 1;
        if (problems) failed ??= problems.problems;
        else this.#draw();
        if (left > 0) return;
        if (asked === this.#asked) {
          this.#ended();
          this.#failed = failed && { key, problems: failed };
        }
        if (failed) return this.#settle();
        this.#shown = key;
        requestAnimationFrame(() => performance.measure("change to picture", { start: began }));
        if (asked === this.#asked) this.#settle();
      });
    });
  }

  /** A run takes long: what is on the page belongs to the setting before. */
  #wait(): void {
    named("effort").textContent = "simulating …";
    named("stop").hidden = false;
    if (this.#good && !this.#refused) mark("Results of the setting before: the new one is being simulated.");
  }

  /** No run goes on. */
  #ended(): void {
    clearTimeout(this.#late);
    this.#running = "";
    const stop = named("stop");
    // A reader who was there goes on next to it.
    if (document.activeElement === stop) named("reset").focus();
    stop.hidden = true;
  }

  /** Ends the runs that go on, and goes back to the last results; without any, the page shows how far the runs came. */
  async stop(): Promise<void> {
    this.#asked += 1;
    for (const column of this.columns) column.stop();
    this.#ended();
    named("effort").textContent = "stopped";
    const [good, films] = [this.#good, this.#films];
    if (!good) return mark("The runs were stopped before their end.");
    const state = copyOf(good.state);
    this.state = state;
    for (const { head } of this.columns) head.forget();
    const problems = await this.#check(true, false);
    if (problems.length > 0 || this.state !== state) return;
    this.columns.forEach((column, place) => films[place] && column.put(films[place]));
    this.#shown = keyOf(state);
    this.#draw();
    this.#settle();
  }

  /** Draws everything with the next picture of the screen. */
  #draw(): void {
    if (this.#drawing) return;
    this.#drawing = true;
    requestAnimationFrame(() => {
      this.#drawing = false;
      const films = this.columns.flatMap(({ film }) => (film ? [film] : []));
      this.#scales = scalesOf(films);
      const removable = editable(this.axis) && this.columns.length > 1;
      this.columns.forEach((column, place) => column.draw(this.#scales, `Scheme ${place + 1}, ${this.labels[place] ?? ""}`, removable));
      this.#point(this.player.at);
      if (films.length > 0) this.#first();
    });
  }

  /** Notes the first picture of a scheme, and of all their runs; explanations are asked for then. */
  #first(): void {
    if (performance.getEntriesByName("first picture").length === 0) performance.mark("first picture");
    if (this.#learning || !this.columns.every(({ whole }) => whole)) return;
    performance.mark("whole picture");
    this.#learning = true;
    setTimeout(() => void this.learn());
  }

  #point(at: number): void {
    const longest = this.#scales[1] ?? 1;
    const memory = Math.max(0.02, 0.35 * this.player.speed);
    for (const column of this.columns) column.point(at, longest, memory);
  }

  /** Shows the results of the last valid state, once its runs have ended. */
  #settle(): void {
    const valid = this.#valid;
    if (!valid) return;
    if (this.#failed?.key === keyOf(valid.state)) return this.#gaveUp(this.#failed.problems);
    const films = this.columns.flatMap(({ film, whole }) => (film && whole ? [film] : []));
    if (this.#shown !== keyOf(valid.state) || !this.#catalogue || films.length === 0 || films.length < this.columns.length) return;
    [this.#good, this.#films] = [valid, films];
    if (!this.#refused) mark(undefined);
    named("results").replaceChildren(results(films, this.labels.slice(0, films.length), this.#catalogue));
    overflows();
    named("effort").textContent = effort(films, this.columns.map(({ span }) => span));
    this.#claims.live(figureOf(valid.state), scenarioOf(valid.state, this.files), settingOf(valid.state, valid.checked), films.map((film) => film.answer.rows));
    this.onsettled();
  }

  /** The engine took a state, and failed when it ran. */
  #gaveUp(problems: Problem[]): void {
    this.#failed = undefined;
    if (!this.#good) return this.onlost(problems);
    this.#valid = this.#good;
    this.#heads();
    this.address.save(this.#valid.state);
    this.#refuse(problems);
  }
}
