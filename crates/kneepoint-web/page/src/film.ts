// SPDX-License-Identifier: Apache-2.0 OR MIT
// A finished run as a page draws it: columns by name, and packets by time.

import type { Run } from "./engine.ts";
import type { Answer, Column } from "./types.ts";

/** A column with its numbers. */
export interface Curve {
  name: string;
  group: number | null;
  values: Float32Array;
}

/** Where a packet is at an instant. */
export interface Sight {
  /** Waiting packets, in the order of arrival. */
  waiting: number[];
  /** On the way, and how far, from 0 to 1. */
  travelling: [packet: number, share: number][];
  /** Dropped not long ago, and how long ago, from 0 to 1. */
  dropped: [packet: number, age: number][];
}

/** This many packets of a run are kept one by one. */
export const PACKETS = 150_000;

export class Film {
  readonly answer: Answer;
  readonly interval: number;
  readonly instants: number;
  readonly groups: number;
  readonly queue: Curve;
  readonly arrived: Float32Array;
  readonly left: Float32Array;
  readonly flow: Float32Array;
  readonly group: Float32Array;
  readonly fate: Float32Array;
  readonly #numbers: Float32Array;
  readonly #drawn = new Map<string, Curve[]>();
  /** The instant that was looked at last: picture and chart ask for the same one. */
  #counted: { at: number; count: number } | undefined;

  constructor({ answer, numbers }: Run) {
    this.answer = answer;
    this.#numbers = numbers;
    this.interval = answer.film.interval_s;
    this.queue = this.curves("queue_packets")[0] ?? { name: "", group: null, values: new Float32Array() };
    this.instants = this.queue.values.length;
    this.groups = answer.film.columns.filter((column) => column.quantity === "goodput_mbps").length;
    const packets = (quantity: string): Float32Array => this.curves(quantity)[0]?.values ?? new Float32Array();
    this.arrived = packets("arrived_s");
    this.left = packets("left_s");
    this.flow = packets("flow");
    this.group = packets("group");
    this.fate = packets("fate");
  }

  curves(quantity: string): Curve[] {
    const columns = this.answer.film.columns.filter((column) => column.quantity === quantity);
    return columns.map((column) => ({ name: column.subject, group: column.group, values: this.#part(column) }));
  }

  /** The curves of a quantity as they are drawn: without those that are zero, and averaged over this many intervals to both sides. */
  drawn(quantity: string, reach: number): Curve[] {
    let drawn = this.#drawn.get(quantity);
    if (!drawn) {
      const curves = this.curves(quantity).filter((curve) => curve.values.some((value) => value > 0));
      drawn = reach === 0 ? curves : curves.map((curve) => ({ ...curve, values: smoothed(curve.values, reach) }));
      this.#drawn.set(quantity, drawn);
    }
    return drawn;
  }

  get duration(): number {
    return this.interval * this.answer.film.intervals;
  }

  /** Until when it is known, which is all of it once the run has ended. */
  get until(): number {
    return this.interval * this.instants;
  }

  /** The place of an instant in the columns. */
  place(at: number): number {
    return Math.max(0, Math.min(this.instants - 1, Math.floor(at / this.interval)));
  }

  /** The last interval that has ended at an instant; -1 before the first has. */
  past(at: number): number {
    return Math.min(this.instants, Math.floor(at / this.interval + 1e-6)) - 1;
  }

  /** Whether the packets of an instant are known one by one. */
  kept(at: number): boolean {
    return this.arrived.length < PACKETS || at <= this.answer.film.kept_until_s;
  }

  /** How many packets wait at an instant: counted where they are known one by one, and otherwise as many as at the end of the last interval. */
  waiting(at: number): number {
    if (!this.kept(at)) return Math.round(this.queue.values[this.past(at)] ?? 0);
    if (this.#counted?.at !== at) this.#counted = { at, count: this.sight(at, 0).waiting.length };
    return this.#counted.count;
  }

  /** The visible state at an instant; drops of the last `memory` seconds. */
  sight(at: number, memory: number): Sight {
    const { delay_s: delay, longest_wait_s: wait } = this.answer.film;
    const sight: Sight = { waiting: [], travelling: [], dropped: [] };
    const since = at - wait - Math.max(delay, memory);
    for (let packet = this.#before(at); packet >= 0 && (this.arrived[packet] as number) >= since; packet--) {
      const left = this.left[packet] as number;
      const fell = (this.fate[packet] as number) >= 2;
      if (left > at) sight.waiting.push(packet);
      else if (fell && at - left < memory) sight.dropped.push([packet, (at - left) / memory]);
      else if (!fell && at - left < delay) sight.travelling.push([packet, (at - left) / delay]);
    }
    sight.waiting.reverse();
    this.#counted = { at, count: sight.waiting.length };
    return sight;
  }

  /** The last packet that arrived until an instant; -1 before the first. */
  #before(at: number): number {
    let [low, high] = [0, this.arrived.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.arrived[middle] as number) <= at) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  #part({ from, count }: Column): Float32Array {
    return this.#numbers.subarray(from, from + count);
  }
}

/** Means over this many intervals to both sides, with gaps left out. */
export function smoothed(values: Float32Array, reach: number): Float32Array {
  const means = new Float32Array(values.length);
  let [sum, count] = [0, 0];
  const take = (place: number, sign: number): void => {
    const value = values[place];
    if (value === undefined || Number.isNaN(value)) return;
    sum += sign * value;
    count += sign;
  };
  for (let place = 0; place < reach; place++) take(place, 1);
  for (let place = 0; place < values.length; place++) {
    take(place + reach, 1);
    take(place - reach - 1, -1);
    means[place] = count > 0 ? sum / count : Number.NaN;
  }
  return means;
}
