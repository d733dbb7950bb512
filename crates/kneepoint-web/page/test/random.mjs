// SPDX-License-Identifier: Apache-2.0 OR MIT
// Questions about scenarios at random: every controller and every queue, several networks and sources.

/** A generator of numbers from 0 to 1: splitmix32, which is the same everywhere. */
export function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}

const LOSSES = ["", '[loss]\nkind = "uniform"\np = 0.002\n', '[loss]\nkind = "gilbert-elliott"\n'];
const CAPACITIES = ["", "", '[capacity]\nkind = "ephemeral"\n'];
const SOURCES = ["", '[[web]]\nsessions = 5\ncc = "cubic"\n', '[[cbr]]\nrate = "200kbit"\n', '[[vod]]\ncount = 1\ncc = "reno"\n'];

/** So many questions, each in a line of JSON. */
export function questions(count, seed, { controllers, queues }) {
  const random = generator(seed);
  const one = (list) => list[Math.floor(random() * list.length)];
  const between = (least, most) => least * (most / least) ** random();
  const question = (place) => {
    // Each algorithm has its turn.
    const controller = controllers[place % controllers.length].name;
    const queue = queues[Math.floor(place / 2) % queues.length].name;
    const text = [
      "[run]",
      `duration = "${(2 + 6 * random()).toFixed(2)}s"`,
      "[topology]",
      'kind = "dumbbell"',
      `rate = "${Math.round(between(500, 40_000))}kbit"`,
      `rtt = "${Math.round(between(2, 300))}ms"`,
      `buffer = "${between(0.2, 6).toFixed(2)}bdp"`,
      one(LOSSES),
      one(CAPACITIES),
      "[[flows]]",
      'name = "long"',
      `count = ${Math.ceil(between(0.5, 24))}`,
      'cc = "reno"',
      'start = "0s..1s"',
      one(SOURCES),
      "[sweep]",
      `scheme = ["${controller}/${queue}"]`,
    ];
    return { text: text.join("\n"), seed: Math.floor(random() * 1e6), packets: 20_000, followed: 4 };
  };
  return Array.from({ length: count }, (_, place) => question(place));
}
