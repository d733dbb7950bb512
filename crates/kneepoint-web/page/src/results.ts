// SPDX-License-Identifier: Apache-2.0 OR MIT
// The table of results: each scheme with its difference to the first; and the numbers behind a chart.

import { curvesOf, PANELS } from "./charts.ts";
import { make, named } from "./dom.ts";
import type { Film } from "./film.ts";
import { short } from "./paint.ts";
import type { Catalogue, Metric, Row } from "./types.ts";
import type { Span } from "./worker.ts";

/** A number under a metric, for people. */
function shown(metric: Metric, value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : short(value * metric.scale);
}

/** How far a number is from the first scheme's: as a factor where it is far. */
function difference(first: number | null | undefined, own: number | null | undefined): string {
  if (first === null || first === undefined || own === null || own === undefined || first === own) return "";
  if (first === 0 || own === 0) return "";
  const ratio = own / first;
  const factor = Math.max(ratio, 1 / ratio);
  if (factor >= 3) return `${ratio > 1 ? "×" : "÷"} ${factor > 1000 ? "> 1000" : short(factor)}`;
  const percent = 100 * (ratio - 1);
  const digits = Math.abs(percent) >= 10 ? 0 : 1;
  const text = Math.abs(percent).toFixed(digits);
  return Number(text) === 0 ? "" : `${percent > 0 ? "+" : "−"}${text} %`;
}

/** Whether the difference is for the better. */
function judged(metric: Metric, first: number | null | undefined, own: number | null | undefined): string | undefined {
  if (!metric.better || first === null || first === undefined || own === null || own === undefined || first === own) return undefined;
  return own > first === (metric.better === "more") ? "better" : "worse";
}

const rowOf = (film: Film, group: string | undefined): Row | undefined =>
  film.answer.rows.find(({ labels }) =>
    group === undefined ? Object.keys(labels).length === 0 : Object.keys(labels).length === 1 && labels["group"] === group,
  );

function section(title: string | undefined, metrics: Metric[], films: Film[], columns: number, hidden: Set<string>): HTMLElement[] {
  const values = (metric: Metric): (number | null | undefined)[] => films.map((film) => rowOf(film, title)?.values[metric.key]);
  const lines = metrics
    // Rows that are zero or unknown everywhere are left out.
    .filter((metric) => metric.brief && values(metric).some((value) => value !== null && value !== undefined && value !== 0))
    .filter((metric) => !hidden.has(metric.key))
    .map((metric) => {
      const [first] = values(metric);
      const cells = values(metric).map((own, place) => {
        const apart = place === 0 ? "" : difference(first, own);
        const small = apart ? make("small", { class: judged(metric, first, own) }, apart) : undefined;
        return make("td", {}, shown(metric, own), small);
      });
      return make("tr", {}, make("th", { scope: "row" }, metric.title, metric.unit ? make("span", { class: "unit" }, ` ${metric.unit}`) : undefined), ...cells);
    });
  if (lines.length === 0 || title === undefined) return lines;
  // The title is as narrow as its column, and stays in sight with it.
  return [make("tr", { class: "group" }, make("th", { scope: "rowgroup" }, title), make("td", { colspan: columns })), ...lines];
}

/** The results of all schemes. */
export function results(films: Film[], labels: string[], catalogue: Catalogue): HTMLElement {
  const groups = new Set(films.flatMap((film) => film.answer.rows.flatMap(({ labels: { group, ...others } }) => (group !== undefined && Object.keys(others).length === 0 ? [group] : []))));
  // A lone group has what the whole has: its table need not say that again.
  const whole = groups.size > 1 ? [] : catalogue.metrics.run.map(({ key }) => key);
  const hidden = new Set(["flows", ...(groups.size > 1 ? [] : ["share", "goodput_bps"]), ...whole]);
  const sections = [...groups].flatMap((group) => section(group, catalogue.metrics.group, films, labels.length, hidden));
  return make(
    "table",
    {},
    make("caption", { class: "unseen" }, "Results of each scheme, with its difference to the first"),
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Metric"), ...labels.map((label) => make("th", { scope: "col" }, label)))),
    make("tbody", {}, ...section(undefined, catalogue.metrics.run, films, labels.length, new Set()), ...sections),
  );
}

/** The number of simulated packets, and the time of all runs together: they go on side by side. */
export function effort(films: Film[], spans: Span[]): string {
  const packets = films.reduce((sum, film) => sum + film.answer.bottleneck_packets, 0);
  const took = Math.max(...spans.map(([, ended]) => ended)) - Math.min(...spans.map(([began]) => began));
  const by = films.length > 1 ? `, ${films.length} runs side by side` : "";
  return `${packets.toLocaleString("en")} packets simulated in ${took.toFixed(0)} ms${by}`;
}

/** Says so if a part of the table is out of sight. */
export function overflows(): void {
  const box = named("results");
  named("results-more").hidden = box.scrollWidth <= box.clientWidth + 1;
}

/** How many instants the table behind a chart has. */
const LINES = 50;

/** The numbers behind the charts of a scheme. */
export function numbers(film: Film): HTMLElement {
  const own = PANELS.flatMap((panel) => curvesOf(film, panel).map((curve) => ({ ...curve, title: `${panel.title}, ${panel.unit}` })));
  const counted = ["drops", "marks"].flatMap((quantity) => film.curves(quantity).map((curve) => ({ ...curve, title: quantity })));
  const every = Math.max(1, Math.ceil(film.instants / LINES));
  const lines: HTMLElement[] = [];
  for (let place = every - 1; place < film.instants; place += every) {
    const at = (place + 1) * film.interval;
    const sum = (values: Float32Array): number => values.subarray(place - every + 1, place + 1).reduce((all, one) => all + one, 0);
    const cells = [...own.map(({ values }) => short(values[place] as number)), ...counted.map(({ values }) => String(sum(values)))];
    lines.push(make("tr", {}, make("th", { scope: "row" }, short(at)), ...cells.map((text) => make("td", {}, text))));
  }
  const heads = [...own, ...counted].map(({ title, name }) => make("th", { scope: "col" }, title, make("small", {}, name)));
  return make("table", {}, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Time, s"), ...heads)), make("tbody", {}, ...lines));
}
