// SPDX-License-Identifier: Apache-2.0 OR MIT
// Questions of a state to the engine: its scenario, and the run of each scheme.

import { PACKETS } from "./film.ts";
import { setOf, type State, textOf } from "./state.ts";
import type { Question } from "./types.ts";

/** The resolution of a film, and the number of flows whose windows it has. */
const INSTANTS = 1000;
const FOLLOWED = 8;

/** The scenario of a state, with only the files that it names. */
export function scenarioOf(state: State, files: Record<string, string>): Question {
  const [text, set] = [textOf(state), setOf(state)];
  const written = [text, ...set].join("\n");
  const named = Object.entries(files).filter(([name]) => written.includes(name) || written.includes(JSON.stringify(name)));
  return { text, set, files: Object.fromEntries(named) };
}

/** The run of the scheme at a place. */
export function questionOf(state: State, files: Record<string, string>, place: number): Question {
  // Without a seed it is the scenario's first, which may have more digits than a number of a page.
  const seed = state.seed === undefined ? {} : { seed: state.seed };
  return { ...scenarioOf(state, files), ...seed, case: place, instants: INSTANTS, followed: FOLLOWED, packets: PACKETS };
}
