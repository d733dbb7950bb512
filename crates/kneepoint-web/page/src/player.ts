// SPDX-License-Identifier: Apache-2.0 OR MIT
// The clock of the page: it plays a run as fast as a reader wants, or steps through it.

import { choice, make, named } from "./dom.ts";

const SPEEDS: [string, number][] = [
  ["1/1000", 0.001],
  ["1/100", 0.01],
  ["1/10", 0.1],
  ["1/4", 0.25],
  ["1", 1],
  ["4", 4],
];

export class Player {
  #at = 0;
  #duration = 1;
  #playing = false;
  #speed = 1;
  #last = 0;
  readonly #play = named<HTMLButtonElement>("play");
  readonly #time = named<HTMLInputElement>("time");
  readonly #clock = named<HTMLOutputElement>("clock");

  /** `onmove` is called at each picture in which the instant is another. */
  constructor(private readonly onmove: (at: number) => void) {
    this.#play.addEventListener("click", () => this.toggle());
    this.#time.addEventListener("input", () => this.seek((Number(this.#time.value) / 1000) * this.#duration));
    named("back").addEventListener("click", () => this.step(-1));
    named("forth").addEventListener("click", () => this.step(1));
    named("begin").addEventListener("click", () => this.seek(0));
    const speeds = SPEEDS.map(([text, speed]) => ({ value: String(speed), text: `${text} ×` }));
    named("speed").replaceWith(choice("Speed of playing", speeds, "1", (speed) => (this.#speed = Number(speed))));
    document.addEventListener("keydown", (event) => this.#key(event));
  }

  get at(): number {
    return this.#at;
  }

  get playing(): boolean {
    return this.#playing;
  }

  /** The slowness in which the world is seen: simulated seconds per second. */
  get speed(): number {
    return this.#speed;
  }

  set duration(duration: number) {
    if (this.#duration === duration) return;
    this.#duration = duration;
    this.seek(Math.min(this.#at, duration));
  }

  seek(at: number): void {
    this.#at = Math.max(0, Math.min(this.#duration, at));
    this.#time.value = String(Math.round((1000 * this.#at) / this.#duration));
    const decimals = this.#speed < 0.1 ? 4 : 2;
    this.#clock.value = `${this.#at.toFixed(decimals)} s`;
    this.#time.setAttribute("aria-valuetext", this.#clock.value);
    this.onmove(this.#at);
  }

  /** One step of a thousand, or of ten milliseconds on screen at slow speeds. */
  step(direction: number): void {
    this.pause();
    this.seek(this.#at + direction * Math.min(this.#duration / 200, this.#speed / 10));
  }

  pause(): void {
    if (this.#playing) this.toggle();
  }

  toggle(): void {
    this.#playing = !this.#playing;
    this.#play.textContent = this.#playing ? "Pause" : "Play";
    if (!this.#playing) return;
    if (this.#at >= this.#duration) this.seek(0);
    this.#last = performance.now();
    requestAnimationFrame((now) => this.#tick(now));
  }

  #tick(now: number): void {
    if (!this.#playing) return;
    // A page in the background stands still.
    const passed = Math.min(0.1, (now - this.#last) / 1000);
    this.#last = now;
    this.seek(this.#at + passed * this.#speed);
    if (this.#at >= this.#duration) this.toggle();
    else requestAnimationFrame((next) => this.#tick(next));
  }

  #key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (["INPUT", "SELECT", "TEXTAREA", "BUTTON", "SUMMARY", "A"].includes(target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
    const acts: Record<string, () => void> = {
      " ": () => this.toggle(),
      ArrowLeft: () => this.step(-1),
      ArrowRight: () => this.step(1),
      Home: () => this.seek(0),
      End: () => this.seek(this.#duration),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }
}

/** A button with a text. */
export const button = (text: string, onclick: () => void, attributes: Record<string, string> = {}): HTMLButtonElement =>
  make("button", { type: "button", onclick, ...attributes }, text);
