// SPDX-License-Identifier: Apache-2.0 OR MIT
// The engine as a module: questions in, answers and numbers out. The worker of a page calls it, and so do the tests in Node.

import type { Answer, Catalogue, Checked, FilmHead, Given, Judged, Picture, Preset, Problems, Question, Trial } from "./types.ts";

interface Exports {
  memory: WebAssembly.Memory;
  knee_room(bytes: number): number;
  knee_answer(): number;
  knee_answer_length(): number;
  knee_numbers(): number;
  knee_numbers_length(): number;
  knee_check(): void;
  knee_start(): number;
  knee_step(until: number): number;
  knee_look(): void;
  knee_finish(): void;
  knee_catalogue(): void;
  knee_presets(): void;
  knee_judge(): void;
  knee_picture(): void;
  knee_given(): void;
  knee_replay(): void;
}

/** A finished run: its answer, and the numbers of its columns. */
export interface Run {
  answer: Answer;
  numbers: Float32Array;
}

export class Engine {
  readonly #wasm: Exports;

  constructor(instance: WebAssembly.Instance) {
    this.#wasm = instance.exports as unknown as Exports;
  }

  check(question: Question): Checked | Problems {
    this.#tell(question);
    this.#wasm.knee_check();
    return this.#answer();
  }

  /** Begins a run; problems if it cannot. */
  start(question: Question): Problems | null {
    this.#tell(question);
    return this.#wasm.knee_start() === 1 ? null : this.#answer();
  }

  /** Runs on until this many seconds of simulated time; false at the end. */
  step(until: number): boolean {
    return Number.isFinite(this.#wasm.knee_step(until));
  }

  /** The columns of the run in progress. */
  look(): { film: FilmHead; numbers: Float32Array<ArrayBuffer> } {
    this.#wasm.knee_look();
    return { film: this.#answer(), numbers: this.#numbers() };
  }

  finish(): Run {
    this.#wasm.knee_finish();
    return { answer: this.#answer(), numbers: this.#numbers() };
  }

  catalogue(): Catalogue {
    this.#wasm.knee_catalogue();
    return this.#answer();
  }

  judge(trial: Trial): Judged | Problems {
    this.#tell(trial);
    this.#wasm.knee_judge();
    return this.#answer();
  }

  presets(): Preset[] {
    this.#wasm.knee_presets();
    return this.#answer();
  }

  picture(picture: Picture): string {
    this.#tell(picture);
    this.#wasm.knee_picture();
    return this.#text();
  }

  given(file: Uint8Array): { given: Given; numbers: Float32Array } {
    this.#write(file);
    this.#wasm.knee_given();
    return { given: this.#answer(), numbers: this.#numbers() };
  }

  /** Signals to a controller, and the hash of its windows: for the tests in Node. */
  replay(cc: string, trace: string): { hash: string; steps: number } | Problems {
    this.#tell({ cc, trace });
    this.#wasm.knee_replay();
    return this.#answer();
  }

  #tell(question: unknown): void {
    this.#write(new TextEncoder().encode(JSON.stringify(question)));
  }

  #write(bytes: Uint8Array): void {
    const room = this.#wasm.knee_room(bytes.length);
    new Uint8Array(this.#wasm.memory.buffer, room, bytes.length).set(bytes);
  }

  #text(): string {
    const [from, length] = [this.#wasm.knee_answer(), this.#wasm.knee_answer_length()];
    return new TextDecoder().decode(new Uint8Array(this.#wasm.memory.buffer, from, length));
  }

  #answer<T>(): T {
    return JSON.parse(this.#text()) as T;
  }

  /** A copy: the memory of the engine is its own. */
  #numbers(): Float32Array<ArrayBuffer> {
    const [from, length] = [this.#wasm.knee_numbers(), this.#wasm.knee_numbers_length()];
    return length === 0 ? new Float32Array() : new Float32Array(this.#wasm.memory.buffer, from, length).slice();
  }
}
