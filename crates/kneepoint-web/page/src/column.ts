// SPDX-License-Identifier: Apache-2.0 OR MIT
// A scheme: its head, its network, its charts and the numbers behind them.

import { Charts, type Scales } from "./charts.ts";
import { make } from "./dom.ts";
import { Film } from "./film.ts";
import { Network } from "./network.ts";
import { button } from "./player.ts";
import { numbers } from "./results.ts";
import { Head } from "./schemes.ts";
import { Runner } from "./staff.ts";
import type { Problems, Question } from "./types.ts";
import type { Span } from "./worker.ts";

export class Column {
  readonly head: Head;
  readonly element: HTMLElement;
  film: Film | undefined;
  /** Whether its film is that of a whole run, which it is but for the first. */
  whole = false;
  /** From when to when the last run went on. */
  span: Span = [0, 0];
  readonly #runner: Runner;
  readonly #progress: HTMLProgressElement;
  readonly #charts: Charts;
  readonly #network: Network;
  readonly #pictures: HTMLElement[];
  readonly #legend = make("ul", { class: "legend" });
  readonly #behind: HTMLDetailsElement;
  readonly #table = make("div", { class: "scroll", tabindex: 0, role: "region" });
  readonly #remove: HTMLButtonElement;

  /** `onfilm` is called when there is more to see of the first run, `onwrong` with a value that cannot be part of a scheme. */
  constructor(onpick: (at: number) => void, onremove: () => void, onfilm: () => void, onwrong: (sentence: string) => void) {
    this.head = new Head(onwrong);
    const progress = make("progress", { max: 1, value: 0, "aria-label": "Progress of the run", hidden: true });
    this.#progress = progress;
    this.#runner = new Runner(
      (share) => {
        progress.hidden = false;
        progress.value = share;
      },
      (run) => {
        this.film = new Film(run);
        onfilm();
      },
    );
    const [network, still] = [make("canvas", { class: "network", role: "img" }), make("canvas", { class: "still", role: "img" })];
    const above = make("canvas", { class: "above", "aria-hidden": "true" });
    this.#pictures = [network, still];
    this.#network = new Network(network);
    this.#charts = new Charts(still, above, onpick);
    this.#behind = make(
      "details",
      { class: "aside", ontoggle: () => this.#fill() },
      make("summary", {}, "Numbers behind the charts"),
      this.#table,
    );
    this.#remove = button("Remove", onremove, { class: "quiet remove" });
    const top = make("div", { class: "top" }, this.head.element, this.#remove);
    this.element = make("article", {}, top, progress, network, this.#legend, make("div", { class: "charts" }, still, above), this.#behind);
  }

  run(question: Question, duration: number, then: (problems: Problems | undefined) => void): void {
    this.element.classList.add("busy");
    this.#runner.run({
      question,
      duration,
      early: !this.whole,
      then: (run, span) => {
        this.#idle();
        if ("problems" in run) return then(run);
        this.span = span;
        this.put(new Film(run));
        then(undefined);
      },
    });
  }

  /** Shows the film of a whole run. */
  put(film: Film): void {
    [this.film, this.whole] = [film, true];
    this.element.dataset["hash"] = film.answer.hash;
  }

  /** Leads to its button. */
  focus(): void {
    this.#remove.focus();
  }

  /** Ends its run. */
  stop(): void {
    this.#runner.stop();
    this.#idle();
  }

  #idle(): void {
    this.#progress.hidden = true;
    this.element.classList.remove("busy");
  }

  /** Draws its run on scales that all schemes share. */
  draw(scales: Scales, label: string, removable: boolean): void {
    const film = this.film;
    this.#remove.hidden = !removable;
    this.#remove.setAttribute("aria-label", `Remove ${label}`);
    if (!film) {
      this.#network.blank();
      return this.#charts.blank();
    }
    this.element.setAttribute("aria-label", label);
    const [network, still] = this.#pictures as [HTMLElement, HTMLElement];
    network.setAttribute("aria-label", `${label}: packets in the queue of ${film.answer.film.link} and on the way behind it`);
    still.setAttribute("aria-label", `${label}: windows, queue, round-trip times and goodput over ${film.duration.toFixed(0)} s; the numbers are in the table below`);
    this.#charts.show(film, scales);
    this.#name(film);
    this.#table.setAttribute("aria-label", `${label}: numbers behind the charts`);
    this.#fill();
  }

  point(at: number, longest: number, memory: number): void {
    if (!this.film) return;
    // Beyond what is known there is nothing to be seen.
    const seen = Math.min(at, this.film.until);
    this.#network.show(this.film, seen, longest, memory);
    this.#charts.point(seen);
  }

  dismiss(): void {
    this.#runner.dismiss();
    this.element.remove();
  }

  /** A closed table has no rows. */
  #fill(): void {
    if (this.#behind.open && this.film) this.#table.replaceChildren(numbers(this.film));
    else this.#table.replaceChildren();
  }

  /** Groups and their colours, where there are several; a lone group has a colour for each flow. */
  #name(film: Film): void {
    const groups = film.curves("goodput_mbps");
    this.#legend.replaceChildren(
      ...(groups.length > 1 ? groups : []).map(({ name }, place) => make("li", { class: `s${place % 8}` }, make("i"), name)),
    );
  }
}
