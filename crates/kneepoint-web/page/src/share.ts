// SPDX-License-Identifier: Apache-2.0 OR MIT
// The study as something to run elsewhere: a command, a scenario, a program in Python, and the laboratory's own figures.

import { curvesOf, PANELS, type Panel } from "./charts.ts";
import type { Film } from "./film.ts";
import type { Picture } from "./types.ts";

/** The command that runs the same in a shell, with the scenario on its standard input. */
export function command(text: string, seed: number): string {
  return `knee run - --seed ${seed} --seeds 1 <<'SCENARIO'\n${text.trimEnd()}\nSCENARIO\n`;
}

/** The same in Python. */
export function python(text: string, seed: number): string {
  const quoted = text.includes('"""') ? JSON.stringify(text) : `r"""\n${text.trimEnd()}\n"""`;
  return `import kneepoint as knee\n\nscenario = ${quoted}\nresult = knee.run(scenario, seed=${seed}, seeds=1)\nprint(result.to_polars())\n`;
}

/** At most this many points in a curve of a figure. */
const POINTS = 400;

/** A quantity of all schemes as a chart of the laboratory. */
export function picture(panel: Panel, films: Film[], labels: string[]): Picture {
  const series = films.flatMap((film, scheme) => {
    const curves = curvesOf(film, panel);
    // Of many flows the first stand for all.
    return curves.slice(0, panel.quantity === "window_packets" ? 2 : 4).map((curve) => {
      const every = Math.max(1, Math.ceil(film.instants / POINTS));
      const points: [number, number | null][] = [];
      for (let place = every - 1; place < film.instants; place += every) {
        const value = curve.values[place] as number;
        points.push([(place + 1) * film.interval, Number.isNaN(value) ? null : value]);
      }
      const of = panel.quantity === "queue_packets" || curves.length === 1 ? "" : `, ${curve.name}`;
      return { name: `${labels[scheme]}${of}`, rank: scheme, points };
    });
  });
  return { title: `${panel.title} over time`, x: "time, s", y: `${panel.title.toLowerCase()}, ${panel.unit}`, series };
}

export { PANELS };
