// SPDX-License-Identifier: Apache-2.0 OR MIT
// The address bar: it follows the view, and each preset has an entry of its own in the history of the browser.

import { fragmentOf, type State } from "./state.ts";

/** A view that stands for this long is kept, in milliseconds. */
const QUIET = 250;

export class Address {
  #saving: ReturnType<typeof setTimeout> | undefined;
  #turn = 0;

  /** Writes a view into the present entry, when nothing has changed for a while. */
  save(state: State): void {
    clearTimeout(this.#saving);
    this.#saving = setTimeout(() => void this.keep(state), QUIET);
  }

  /** Writes it now. */
  async keep(state: State): Promise<void> {
    this.stop();
    const turn = this.#turn;
    const fragment = await fragmentOf(state);
    if (turn === this.#turn) history.replaceState(null, "", `#${fragment}`);
  }

  /** Begins another entry: Back leads to the one before. */
  enter(preset: string): void {
    this.stop();
    history.pushState(null, "", `#${preset}`);
  }

  /** What was to be saved belongs to an entry that is left. */
  stop(): void {
    clearTimeout(this.#saving);
    this.#turn += 1;
  }
}
