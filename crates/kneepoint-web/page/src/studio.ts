// SPDX-License-Identifier: Apache-2.0 OR MIT
// The state of the page, and what follows from it: every change simulates every scheme again.

import { scalesOf, type Scales } from "./charts.ts";
import { Claims } from "./claims.ts";
import { Column } from "./column.ts";
import { named } from "./dom.ts";
import { knobsOf, slider } from "./knobs.ts";
import { onTheme } from "./paint.ts";
import { Player } from "./player.ts";
import { results } from "./results.ts";
import { another, type Axis, axisOf, editable } from "./schemes.ts";
import { Clerk } from "./staff.ts";
import { checkedOf, figureOf, fragmentOf, setOf, type State, storyOf, textOf } from "./state.ts";
import type { Catalogue, Checked, Problem, Question } from "./types.ts";

const MOST_COLUMNS = 4;
const INSTANTS = 1000;
const FOLLOWED = 8;
const PACKETS = 150_000;
/** The instant that is shown first: at the beginning nothing is to be seen. */
const IN_THE_MIDDLE = 0.4;

export class Studio {
  readonly clerk = new Clerk();
  readonly #claims = new Claims(this.clerk);
  readonly player: Player;
  state: State;
  files: Record<string, string> = {};
  checked: Checked | undefined;
  columns: Column[] = [];
  #catalogue: Catalogue | undefined;
  #scales: Scales = [];
  #drawing = false;
  #learning = false;
  #asked = 0;
  #round = 0;
  #saving: ReturnType<typeof setTimeout> | undefined;
  /** Called when all schemes of a change have been simulated. */
  onsettled: () => void = () => {};
  onproblems: (problems: Problem[]) => void = () => {};

  constructor(state: State) {
    this.state = state;
    this.player = new Player((at) => {
      this.#point(at);
      this.state.at = at;
      if (!this.player.playing) this.#save();
    });
    onTheme(() => this.#draw());
    new ResizeObserver(() => this.#draw()).observe(named("columns"));
  }

  get seed(): number {
    return this.state.seed ?? this.checked?.seed ?? 1;
  }

  get labels(): string[] {
    return (this.checked?.cases ?? []).map(({ settings }, place) => settings.map(([, value]) => value).join(", ") || (this.checked?.name ?? String(place + 1)));
  }

  get axis(): Axis | undefined {
    return this.checked ? axisOf(this.checked.tree) : undefined;
  }

  /** Begins with another state. */
  async load(state: State): Promise<void> {
    const at = state.at;
    this.player.pause();
    this.state = state;
    await this.#check(true);
    this.player.seek(at ?? IN_THE_MIDDLE * (this.checked?.cases[0]?.duration_s ?? 0));
  }

  /** Sets a field from outside, as the sliders do. */
  async set(path: string, written: string): Promise<void> {
    this.state.set = { ...this.state.set, [path]: written };
    this.#run();
    await this.#check(false);
  }

  async seedWith(seed: number): Promise<void> {
    this.state.seed = seed;
    this.#run();
    await this.#check(false);
  }

  /** Takes a text instead of preset and fields. */
  async write(text: string): Promise<void> {
    this.state = { ...this.state, text, set: {} };
    await this.#check(true);
  }

  async learn(): Promise<void> {
    this.#catalogue = await this.clerk.catalogue();
    this.#heads();
    this.#draw();
    this.#settle();
  }

  get #scenario(): Question {
    return { text: textOf(this.state), set: setOf(this.state), files: this.files };
  }

  #question(place: number): Question {
    return { ...this.#scenario, case: place, seed: this.seed, instants: INSTANTS, followed: FOLLOWED, packets: PACKETS };
  }

  /** Reads the scenario; with `anew`, sliders are made again and everything runs. */
  async #check(anew: boolean): Promise<void> {
    const round = ++this.#round;
    const checked = checkedOf(this.state) ?? (await this.clerk.check(this.#scenario));
    if (round !== this.#round) return;
    if ("problems" in checked) return this.onproblems(checked.problems);
    this.onproblems([]);
    const cases = this.checked?.cases.length;
    this.checked = checked;
    this.player.duration = checked.cases[0]?.duration_s ?? 1;
    if (anew) this.#controls();
    this.#heads();
    if (anew || cases !== checked.cases.length) this.#run();
    else this.#settle();
    this.#save();
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
        () => this.#values((values) => values.filter((_, other) => other !== place)),
        () => this.#draw(),
      );
      this.columns.push(column);
      named("columns").append(column.element);
    }
    const axis = this.axis;
    this.columns.forEach((column, place) =>
      column.head.show(axis, place, this.labels[place] ?? "", this.#catalogue, (value) =>
        this.#values((values) => values.map((old, other) => (other === place ? value : old))),
      ),
    );
    named("add").hidden = !editable(axis) || count >= MOST_COLUMNS;
    named("columns").dataset["count"] = String(count);
  }

  add(): void {
    const axis = this.axis;
    if (editable(axis)) this.#values((values) => [...values, another(axis)]);
  }

  /** Changes the values of the axis that is swept. */
  #values(change: (values: string[]) => string[]): void {
    const axis = this.axis;
    if (!editable(axis)) return;
    const values = change(axis.values.map(String)).slice(0, MOST_COLUMNS);
    this.state.set = { ...this.state.set, [`sweep.${axis.path}`]: JSON.stringify(values) };
    this.#run();
    void this.#check(false);
  }

  /** Simulates every scheme. */
  #run(): void {
    if (!this.checked) return;
    const asked = ++this.#asked;
    const began = performance.now();
    const duration = this.checked.cases[0]?.duration_s ?? 1;
    let left = this.columns.length;
    this.columns.forEach((column, place) => {
      column.run(this.#question(place), duration, (problems) => {
        left -= 1;
        if (problems) return this.onproblems(problems.problems);
        this.#draw();
        if (left === 0) requestAnimationFrame(() => performance.measure("change to picture", { start: began }));
        if (left === 0 && asked === this.#asked) this.#settle();
      });
    });
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

  #settle(): void {
    const films = this.columns.flatMap(({ film, whole }) => (film && whole ? [film] : []));
    if (!this.#catalogue || films.length === 0 || films.length < this.columns.length) return;
    named("results").replaceChildren(results(films, this.labels.slice(0, films.length), this.#catalogue));
    const packets = films.reduce((sum, film) => sum + film.answer.bottleneck_packets, 0);
    const took = this.columns.reduce((sum, column) => sum + column.took, 0);
    named("effort").textContent = `${packets.toLocaleString("en")} packets simulated in ${took.toFixed(0)} ms`;
    this.#claims.live(figureOf(this.state), this.#scenario, films.map((film) => film.answer.rows));
    this.onsettled();
  }

  /** Keeps the state in the address, when nothing has changed for a while. */
  #save(): void {
    clearTimeout(this.#saving);
    this.#saving = setTimeout(() => {
      void fragmentOf(this.state).then((fragment) => history.replaceState(null, "", `#${fragment}`));
    }, 250);
  }
}
