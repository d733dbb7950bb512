// SPDX-License-Identifier: Apache-2.0 OR MIT
// The workers: one for each scheme, whose latest run alone counts, and one for questions that take no time.

import { named } from "./dom.ts";
import type { Run } from "./engine.ts";
import type { Answer, Catalogue, Checked, Given, Picture, Problems, Question } from "./types.ts";
import type { Ask, Told } from "./worker.ts";

declare global {
  /** Put into the page when it is built: the worker's script. */
  const WORKER: string;
}

type Waiting = (result: unknown, numbers: Float32Array | undefined, took: number) => void;

/** The bytes of a text in base64 that a format compressed. */
export async function inflated(text: string, format: CompressionFormat): Promise<Response> {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format));
  return new Response(stream, { headers: { "content-type": "application/wasm" } });
}

let module: Promise<WebAssembly.Module> | undefined;
let script: string | undefined;

/** The module is in the page, deflated, in base64: as plain text, it is not parsed as a program. */
async function compiled(): Promise<WebAssembly.Module> {
  return WebAssembly.compileStreaming(await inflated(named("engine").textContent ?? "", "gzip"));
}

class Worked {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #next = 0;
  onprogress: (share: number) => void = () => {};

  constructor() {
    script ??= URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" }));
    module ??= compiled();
    this.#worker = new Worker(script);
    this.#worker.onmessage = (event: MessageEvent<Told>) => this.#hear(event.data);
    void module.then((ready) => this.#worker.postMessage({ what: "module", module: ready } satisfies Ask));
  }

  /** Asks, once the module has been passed. */
  ask(make: (id: number) => Ask, then: Waiting): number {
    const id = ++this.#next;
    this.#waiting.set(id, then);
    const ask = make(id);
    void module?.then(() => this.#worker.postMessage(ask, ask.what === "given" ? [ask.file.buffer] : []));
    return id;
  }

  /** Answers to earlier questions are obsolete. */
  forget(before: number): void {
    for (const id of this.#waiting.keys()) if (id < before) this.#waiting.delete(id);
  }

  dismiss(): void {
    this.#worker.terminate();
  }

  #hear(told: Told): void {
    if ("progress" in told) {
      if (this.#waiting.has(told.id)) this.onprogress(told.progress);
      return;
    }
    const waiting = this.#waiting.get(told.id);
    this.#waiting.delete(told.id);
    waiting?.(told.result, told.numbers, told.took ?? 0);
  }
}

/** Workers begun before their schemes are known: each takes a tenth of a second to begin. */
const spare: Worked[] = [];

export function begin(workers: number): void {
  while (spare.length < workers) spare.push(new Worked());
}

type Wanted = { question: Question; duration: number; then: (run: Run | Problems, took: number) => void };

/** A run that has taken longer, in milliseconds, gives way to the next one; until then the next one waits for its picture. */
const LONG = 300;

/** Runs one scheme: of several runs that are asked for, the one under way and the last. */
export class Runner {
  readonly #worked = spare.pop() ?? new Worked();
  #began = 0;
  #busy = false;
  #next: Wanted | undefined;

  constructor(onprogress: (share: number) => void) {
    this.#worked.onprogress = onprogress;
  }

  run(wanted: Wanted): void {
    const short = this.#busy && performance.now() - this.#began < LONG;
    if (short) this.#next = wanted;
    else this.#begin(wanted);
  }

  #begin({ question, duration, then }: Wanted): void {
    [this.#busy, this.#began, this.#next] = [true, performance.now(), undefined];
    const id = this.#worked.ask(
      (id) => ({ what: "run", id, question, duration }),
      (result, numbers, took) => {
        this.#busy = false;
        const failed = (result as Partial<Problems>).problems !== undefined;
        const next = this.#next;
        then(failed ? (result as Problems) : { answer: result as Answer, numbers: numbers ?? new Float32Array() }, took);
        if (next) this.#begin(next);
      },
    );
    this.#worked.forget(id);
  }

  dismiss(): void {
    this.#worked.dismiss();
  }
}

/** Answers what takes no time. */
export class Clerk {
  readonly #worked = new Worked();

  check(question: Question): Promise<Checked | Problems> {
    return this.#promise((id) => ({ what: "check", id, question }));
  }

  catalogue(): Promise<Catalogue> {
    return this.#promise((id) => ({ what: "catalogue", id }));
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
