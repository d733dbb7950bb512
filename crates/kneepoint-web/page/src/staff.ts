// SPDX-License-Identifier: Apache-2.0 OR MIT
// The workers: one for each scheme, whose latest run alone counts, and one for questions that take no time.

import { named } from "./dom.ts";
import type { Run } from "./engine.ts";
import type { Answer, Catalogue, Checked, FilmHead, Given, Judged, Picture, Problems, Question, Row, Trial } from "./types.ts";
import type { Ask, Span, Told } from "./worker.ts";

declare global {
  /** Put into the page when it is built: the worker's script. */
  const WORKER: string;
}

type Waiting = (result: unknown, numbers: Float32Array | undefined, span: Span) => void;

/** The engine stands at the end of the page, deflated, in base64: as text that is no program, it is not parsed as one. */
async function engine(): Promise<string> {
  if (document.readyState === "loading") await new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve, { once: true }));
  return named("engine").textContent ?? "";
}

let module: Promise<WebAssembly.Module> | undefined;
let script: string | undefined;

class Worked {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #next = 0;
  #onmodule: (module: WebAssembly.Module) => void = () => {};
  onprogress: (share: number) => void = () => {};
  /** Called with what is known of a run in progress. */
  onfilm: (film: FilmHead, numbers: Float32Array) => void = () => {};

  constructor() {
    script ??= URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" }));
    this.#worker = new Worker(script);
    this.#worker.onmessage = (event: MessageEvent<Told>) => this.#hear(event.data);
    if (module) void module.then((ready) => this.#worker.postMessage({ what: "module", module: ready } satisfies Ask));
    else module = this.#compiled();
  }

  /** The first worker compiles the engine for all, while the page draws. */
  #compiled(): Promise<WebAssembly.Module> {
    void engine().then((text) => this.#worker.postMessage({ what: "engine", text } satisfies Ask));
    return new Promise((resolve) => (this.#onmodule = resolve));
  }

  /** Asks, once the module has been passed. */
  ask(make: (id: number) => Ask, then: Waiting): number {
    const id = ++this.#next;
    this.#waiting.set(id, then);
    const ask = make(id);
    void module?.then(() => this.#worker.postMessage(ask, ask.what === "given" ? [ask.file.buffer] : []));
    return id;
  }

  /** Ends the run in progress. */
  stop(): void {
    this.forget(this.#next + 1);
    void module?.then(() => this.#worker.postMessage({ what: "stop" } satisfies Ask));
  }

  /** Answers to earlier questions are obsolete. */
  forget(before: number): void {
    for (const id of this.#waiting.keys()) if (id < before) this.#waiting.delete(id);
  }

  dismiss(): void {
    this.#worker.terminate();
  }

  #hear(told: Told): void {
    if ("module" in told) return this.#onmodule(told.module);
    if ("film" in told) {
      if (this.#waiting.has(told.id)) this.onfilm(told.film, told.numbers);
      return;
    }
    if ("progress" in told) {
      if (this.#waiting.has(told.id)) this.onprogress(told.progress);
      return;
    }
    const waiting = this.#waiting.get(told.id);
    this.#waiting.delete(told.id);
    waiting?.(told.result, told.numbers, told.span ?? [0, 0]);
  }
}

/** Workers begun before their schemes are known: each takes a tenth of a second to begin. */
const spare: Worked[] = [];

export function begin(workers: number): void {
  while (spare.length < workers) spare.push(new Worked());
}

/** A run that is wanted `early` is seen while it goes on. */
type Wanted = { question: Question; duration: number; early: boolean; then: (run: Run | Problems, span: Span) => void };

/** A run that takes longer, in milliseconds, gives way to the next one; until then the next one waits for its picture. */
const LONG = 300;

/** Runs one scheme: of several runs that are asked for, the one under way and the last. */
export class Runner {
  readonly #worked = spare.pop() ?? new Worked();
  #began = 0;
  #busy = false;
  #next: Wanted | undefined;
  #patience: ReturnType<typeof setTimeout> | undefined;

  constructor(onprogress: (share: number) => void, onfilm: (run: Run) => void = () => {}) {
    this.#worked.onprogress = onprogress;
    this.#worked.onfilm = (film, numbers) => onfilm({ answer: { bottleneck_packets: 0, events: 0, hash: "", rows: [], film }, numbers });
  }

  run(wanted: Wanted): void {
    const left = this.#busy ? LONG - (performance.now() - this.#began) : 0;
    if (left <= 0) return this.#begin(wanted);
    this.#next = wanted;
    clearTimeout(this.#patience);
    this.#patience = setTimeout(() => this.#next && this.#begin(this.#next), left);
  }

  /** Ends the run in progress, of which nothing more is heard. */
  stop(): void {
    clearTimeout(this.#patience);
    [this.#busy, this.#next] = [false, undefined];
    this.#worked.stop();
  }

  #begin({ question, duration, early, then }: Wanted): void {
    clearTimeout(this.#patience);
    [this.#busy, this.#began, this.#next] = [true, performance.now(), undefined];
    const id = this.#worked.ask(
      (id) => ({ what: "run", id, question, duration, early }),
      (result, numbers, span) => {
        this.#busy = false;
        const failed = (result as Partial<Problems>).problems !== undefined;
        const next = this.#next;
        then(failed ? (result as Problems) : { answer: result as Answer, numbers: numbers ?? new Float32Array() }, span);
        if (next) this.#begin(next);
      },
    );
    this.#worked.forget(id);
  }

  dismiss(): void {
    clearTimeout(this.#patience);
    this.#worked.dismiss();
  }
}

/** How many runs of a sweep go on at a time. */
const AT_A_TIME = Math.max(1, Math.min(4, navigator.hardwareConcurrency - 1));

/** All runs of a published figure, for their rows alone. */
export class Sweep {
  readonly rows: Promise<Row[][]>;
  readonly #runners: Runner[];
  #stopped = false;

  constructor(figure: string, count: number, onrun: (done: number) => void) {
    const rows: Row[][] = Array.from({ length: count }, () => []);
    let [next, done] = [0, 0];
    this.#runners = Array.from({ length: Math.min(count, AT_A_TIME) }, () => new Runner(() => {}));
    this.rows = new Promise((resolve) => {
      const take = (runner: Runner): void => {
        const place = next++;
        if (place >= count || this.#stopped) return;
        const question: Question = { text: "", set: [], files: {}, figure, case: place, seed: 1, instants: 1, followed: 0, packets: 0 };
        const then = (run: Run | Problems): void => {
          rows[place] = "problems" in run ? [] : run.answer.rows;
          onrun(++done);
          if (done === count) {
            this.stop();
            resolve(rows);
          } else take(runner);
        };
        runner.run({ question, duration: 60, early: false, then });
      };
      this.#runners.forEach(take);
    });
  }

  stop(): void {
    this.#stopped = true;
    for (const runner of this.#runners.splice(0)) runner.dismiss();
  }
}

/** Answers what takes no time; its worker begins with the first question. */
export class Clerk {
  #begun: Worked | undefined;

  get #worked(): Worked {
    this.#begun ??= new Worked();
    return this.#begun;
  }

  check(question: Question): Promise<Checked | Problems> {
    return this.#promise((id) => ({ what: "check", id, question }));
  }

  catalogue(): Promise<Catalogue> {
    return this.#promise((id) => ({ what: "catalogue", id }));
  }

  judge(trial: Trial): Promise<Judged | Problems> {
    return this.#promise((id) => ({ what: "judge", id, trial }));
  }

  picture(picture: Picture): Promise<string> {
    return this.#promise((id) => ({ what: "picture", id, picture }));
  }

  given(file: Uint8Array): Promise<{ given: Given; numbers: Float32Array }> {
    return new Promise((resolve) => {
      this.#worked.ask(
        (id) => ({ what: "given", id, file }),
        (given, numbers) => resolve({ given: given as Given, numbers: numbers ?? new Float32Array() }),
      );
    });
  }

  #promise<T>(make: (id: number) => Ask): Promise<T> {
    return new Promise((resolve) => this.#worked.ask(make, (result) => resolve(result as T)));
  }
}
