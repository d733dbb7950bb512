// SPDX-License-Identifier: Apache-2.0 OR MIT
// The difference between the setting of a page and its preset, for the verdicts on a paper's claims.

import { knobsOf } from "./knobs.ts";
import { axisOf } from "./schemes.ts";
import { presetOf, type State } from "./state.ts";
import type { Checked, Tree } from "./types.ts";

/** A field with another value than in the preset. */
interface Changed {
  path: string;
  /** Its value as a scenario writes it. */
  written: string;
  /** Field, value, and the preset's value, as people read them. */
  text: string;
}

export interface Setting {
  /** The length of the runs in seconds. */
  duration: number;
  changed: Changed[];
  /** Schemes of the preset that the page has no more, each as `scheme=vegas`. */
  gone: string[];
}

const schemesOf = (tree: Tree): string[] => {
  const axis = axisOf(tree);
  return (axis?.values ?? []).filter((value) => typeof value === "string").map((value) => `${axis?.path}=${value}`);
};

export function settingOf({ preset, set }: State, { tree, cases }: Checked): Setting {
  const own = presetOf(preset).checked.tree;
  const now = new Map(knobsOf(tree).map((knob) => [knob.path, knob]));
  const changed = knobsOf(own).flatMap(({ label, path, value, shown }): Changed[] => {
    const knob = now.get(path);
    if (!knob || knob.value === value) return [];
    return [{ path, written: knob.written(knob.value), text: `${label.toLowerCase()} ${knob.shown(knob.value)} instead of ${shown(value)}` }];
  });
  if (set["capacity"] !== undefined) changed.push({ path: "capacity", written: "", text: "a link that follows a trace" });
  const there = schemesOf(tree);
  return { duration: cases[0]?.duration_s ?? 0, changed, gone: schemesOf(own).filter((one) => !there.includes(one)) };
}
