// SPDX-License-Identifier: Apache-2.0 OR MIT
// A worker with its own engine. A run gives way to the next one at once: between two steps it looks whether it is still wanted.

import { Engine, type Run } from "./engine.ts";
import type { FilmHead, Picture, Problems, Question, Trial } from "./types.ts";

export type Ask =
  | { what: "engine"; text: string }
  | { what: "module"; module: WebAssembly.Module }
  | { what: "run"; id: number; question: Question; duration: number; early: boolean }
  | { what: "stop" }
  | { what: "check"; id: number; question: Question }
  | { what: "catalogue"; id: number }
  | { what: "judge"; id: number; trial: Trial }
  | { what: "picture"; id: number; picture: Picture }
  | { what: "given"; id: number; file: Uint8Array };

export type Told =
  | { module: WebAssembly.Module }
  | { id: number; progress: number }
  | { id: number; film: FilmHead; numbers: Float32Array }
  | { id: number; result: unknown; numbers?: Float32Array; span?: Span };

/** From when to when a run went on, in milliseconds on the clock of all workers. */
export type Span = [began: number, ended: number];

/** How long a run goes on before it looks up, in milliseconds. */
const PATIENCE = 25;
/** The length of a run's first step, before its speed is known, and the longest: nothing ends a run within a step, and flows that start
 * make it slow. As shares of the run. */
const [FIRST_STEP, LONGEST_STEP] = [1 / 2000, 1 / 100];

const send = (told: Told, transfer: Transferable[] = []): void => postMessage(told, { transfer });

let module: WebAssembly.Module;
let engine: Promise<Engine>;
let wanted = 0;

// The caller's message waits behind earlier arrivals.
const channel = new MessageChannel();
const lookUp = (): Promise<void> =>
  new Promise((resolve) => {
    channel.port1.onmessage = () => resolve();
    channel.port2.postMessage(null);
  });

/** Runs; of a run that is wanted early, its page sees what there is so far. */
async function run(engine: Engine, { id, question, duration, early }: Extract<Ask, { what: "run" }>): Promise<void> {
  const began = performance.now();
  const problems = engine.start(question);
  if (problems) return send({ id, result: problems });
  let [at, step, looked] = [0, duration * FIRST_STEP, began];
  // After how long the page has seen it: a picture costs as much as it shows.
  let seen = 0;
  for (let stepped = began; ; ) {
    at += step;
    if (!engine.step(at)) break;
    const now = performance.now();
    step *= Math.min(4, Math.max(0.25, PATIENCE / 2 / Math.max(0.5, now - stepped)));
    step = Math.min(step, duration * LONGEST_STEP);
    if (now - looked > PATIENCE) {
      send({ id, progress: at / duration });
      if (early && now - began > 3 * seen) {
        seen = now - began;
        const { film, numbers } = engine.look();
        send({ id, film, numbers }, [numbers.buffer]);
      }
      await lookUp();
      if (id !== wanted) return;
      looked = performance.now();
    }
    stepped = performance.now();
  }
  const { answer, numbers }: Run = engine.finish();
  const clock = performance.timeOrigin;
  send({ id, result: answer, numbers, span: [clock + began, clock + performance.now()] }, [numbers.buffer]);
}

/** The bytes of a text in base64. */
function decoded(text: string): Uint8Array<ArrayBuffer> {
  const known = Uint8Array as typeof Uint8Array & { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };
  return known.fromBase64?.(text) ?? Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
}

/** The engine of the page, deflated, in base64. */
async function compiled(text: string): Promise<WebAssembly.Module> {
  const stream = new Blob([decoded(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compileStreaming(new Response(stream, { headers: { "content-type": "application/wasm" } }));
}

function prepare(): void {
  engine = WebAssembly.instantiate(module).then((instance) => new Engine(instance));
}

/** An engine that failed is not asked again: the next question has a new one. */
function failed(id: number, error: unknown): void {
  prepare();
  const message = `the engine gave up: ${String(error)}`;
  const help = "most often for lack of memory: take fewer flows, a shorter run or smaller windows";
  send({ id, result: { problems: [{ line: 1, column: 1, set: null, message, help }] } satisfies Problems });
}

async function act(ask: Ask): Promise<void> {
  if (ask.what === "engine" || ask.what === "module") {
    module = ask.what === "module" ? ask.module : await compiled(ask.text);
    if (ask.what === "engine") send({ module });
    return prepare();
  }
  if (ask.what === "stop") {
    wanted = 0;
    return;
  }
  if (ask.what === "run") wanted = ask.id;
  const ready = await engine;
  switch (ask.what) {
    case "run":
      // Others may have come while the module was prepared.
      return ask.id === wanted ? run(ready, ask) : undefined;
    case "check":
      return send({ id: ask.id, result: ready.check(ask.question) satisfies Problems | object });
    case "catalogue":
      return send({ id: ask.id, result: ready.catalogue() });
    case "judge":
      return send({ id: ask.id, result: ready.judge(ask.trial) });
    case "picture":
      return send({ id: ask.id, result: ready.picture(ask.picture) });
    case "given": {
      const { given, numbers } = ready.given(ask.file);
      return send({ id: ask.id, result: given, numbers }, [numbers.buffer]);
    }
  }
}

onmessage = (event: MessageEvent<Ask>) => {
  const ask = event.data;
  act(ask).catch((error: unknown) => "id" in ask && failed(ask.id, error));
};
