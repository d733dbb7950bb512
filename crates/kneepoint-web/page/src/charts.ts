// SPDX-License-Identifier: Apache-2.0 OR MIT
// Windows, queue, round-trip times and goodput of one scheme, one below another over one time axis. Static parts are
// drawn once for a run; the cursor is on its own canvas above them.

import type { Curve, Film } from "./film.ts";
import { colourOf, colours, roundStep, roundTop, sharp, short } from "./paint.ts";

export interface Panel {
  quantity: string;
  title: string;
  unit: string;
  /** How many intervals to both sides are averaged. */
  reach: number;
}

export const PANELS: Panel[] = [
  { quantity: "window_packets", title: "Window", unit: "packets", reach: 0 },
  { quantity: "queue_packets", title: "Queue", unit: "packets", reach: 0 },
  { quantity: "rtt_ms", title: "Round-trip time", unit: "ms", reach: 2 },
  { quantity: "goodput_mbps", title: "Goodput", unit: "Mbit/s", reach: 8 },
];

/** The curves of a panel as they are drawn. */
export const curvesOf = (film: Film, panel: Panel): Curve[] => film.drawn(panel.quantity, panel.reach);

/** The greatest number of each panel, which all schemes share as a scale. */
export type Scales = number[];

/** The start of a run is cut to the scale of the rest: its overshoot would flatten all that follows. */
const BEGINNING = 0.2;

export function scalesOf(films: Film[]): Scales {
  const greatest = (curves: Curve[]): number => {
    let most = 0;
    for (const { values } of curves) {
      for (let place = Math.floor(BEGINNING * values.length); place < values.length; place++) {
        if ((values[place] as number) > most) most = values[place] as number;
      }
    }
    return most;
  };
  return PANELS.map((panel) => {
    const most = Math.max(0, ...films.map((film) => greatest(curvesOf(film, panel))));
    return roundTop(1.04 * most);
  });
}

const LEFT = 38;
const RIGHT = 6;
const TITLE = 20;
const GAP = 12;
const BELOW = 22;

/** Where the panels are on a canvas. */
class Layout {
  readonly left = LEFT;
  readonly right: number;
  readonly each: number;
  /** Where the title of each panel ends. */
  readonly titled: number[] = [];

  constructor(width: number, height: number) {
    this.right = width - RIGHT;
    this.each = (height - BELOW) / PANELS.length;
  }

  top(panel: number): number {
    return panel * this.each + TITLE;
  }

  bottom(panel: number): number {
    return (panel + 1) * this.each - GAP;
  }

  x(at: number, duration: number): number {
    return this.left + ((this.right - this.left) * at) / duration;
  }

  y(panel: number, value: number, most: number): number {
    return this.bottom(panel) - ((this.bottom(panel) - this.top(panel)) * value) / most;
  }

  /** The instant at a place on the canvas. */
  at(x: number, duration: number): number {
    return Math.max(0, Math.min(1, (x - this.left) / (this.right - this.left))) * duration;
  }
}

/** The frame of a panel; without numbers while the scale is not known. */
function frame(pen: CanvasRenderingContext2D, layout: Layout, panel: number, most: number | undefined): void {
  const { title, unit } = PANELS[panel] as Panel;
  const { ink, muted, faint } = colours();
  pen.textBaseline = "alphabetic";
  pen.textAlign = "left";
  pen.fillStyle = ink;
  pen.font = pen.font.replace(/^(?:\d+ )?/, "600 ");
  pen.fillText(title, layout.left, layout.top(panel) - 7);
  layout.titled[panel] = layout.left + pen.measureText(title).width + 6;
  pen.font = pen.font.replace(/^\d+ /, "");
  pen.fillStyle = muted;
  // Numbers at the cursor come before the unit.
  if (layout.right - layout.left > 180) {
    pen.fillText(unit, layout.titled[panel], layout.top(panel) - 7);
    layout.titled[panel] += pen.measureText(unit).width + 6;
  }
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  pen.strokeStyle = faint;
  pen.lineWidth = 1;
  for (let step = 0; step <= 2; step++) {
    const y = Math.round(layout.y(panel, step, 2)) + 0.5;
    pen.beginPath();
    pen.moveTo(layout.left, y);
    pen.lineTo(layout.right, y);
    pen.stroke();
    if (step !== 1 && most !== undefined) pen.fillText(short((most * step) / 2), layout.left - 6, y);
  }
}

function timeAxis(pen: CanvasRenderingContext2D, layout: Layout, duration: number, height: number): void {
  const step = roundStep(duration, Math.max(2, (layout.right - layout.left) / 48));
  pen.fillStyle = colours().muted;
  pen.textBaseline = "alphabetic";
  for (let at = 0; at <= duration + 1e-9; at += step) {
    const last = at + step > duration + 1e-9;
    pen.textAlign = at === 0 ? "left" : last && layout.x(at, duration) > layout.right - 16 ? "right" : "center";
    pen.fillText(`${short(at)}${last ? " s" : ""}`, layout.x(at, duration), height - 6);
  }
}

/** A curve, with gaps where it is unknown; at most a point and its extremes per pixel. */
function draw(pen: CanvasRenderingContext2D, values: Float32Array, x: (place: number) => number, y: (value: number) => number): void {
  pen.beginPath();
  let drawing = false;
  for (let place = 0; place < values.length; place++) {
    const value = values[place] as number;
    if (Number.isNaN(value)) {
      drawing = false;
      continue;
    }
    if (drawing) pen.lineTo(x(place), y(value));
    else pen.moveTo(x(place), y(value));
    drawing = true;
  }
  pen.stroke();
}

/** Small marks at the top edge of the queue where packets were dropped or marked. */
function events(pen: CanvasRenderingContext2D, film: Film, layout: Layout): void {
  const { ink, series } = colours();
  const marks: [string, string, number][] = [
    ["marks", series[4] as string, 4],
    ["drops", ink, 0],
  ];
  for (const [quantity, colour, lower] of marks) {
    pen.fillStyle = colour;
    const values = film.curves(quantity)[0]?.values ?? new Float32Array();
    for (let place = 0; place < values.length; place++) {
      if ((values[place] as number) > 0) pen.fillRect(layout.x(place * film.interval, film.duration) - 0.5, layout.top(1) + lower, 1.5, 4);
    }
  }
}

/** A curve at an instant: the queue as the picture has it, the latest window, and of what is a mean the interval around the instant. */
function now(film: Film, panel: Panel, curve: Curve, at: number): number {
  if (panel.quantity === "queue_packets") return film.waiting(at);
  return curve.values[panel.reach === 0 ? film.past(at) : film.place(at)] ?? Number.NaN;
}

export class Charts {
  readonly #still: HTMLCanvasElement;
  readonly #above: HTMLCanvasElement;
  #film: Film | undefined;
  #titled: number[] = [];
  #scales: Scales = [];
  /** Inputs of the picture besides the run. */
  #drawn = "";

  constructor(still: HTMLCanvasElement, above: HTMLCanvasElement, onpick: (at: number) => void) {
    [this.#still, this.#above] = [still, above];
    const pick = (event: PointerEvent): void => {
      if (!this.#film || (event.type === "pointermove" && event.buttons === 0)) return;
      const layout = new Layout(above.clientWidth, above.clientHeight);
      onpick(layout.at(event.offsetX, this.#film.duration));
    };
    above.addEventListener("pointerdown", pick);
    above.addEventListener("pointermove", pick);
  }

  /** Draws the frames alone, before anything is known: the first picture then finds its canvases and letters ready. */
  blank(): void {
    const { pen, width, height } = sharp(this.#still);
    const layout = new Layout(width, height);
    PANELS.forEach((_, place) => frame(pen, layout, place, undefined));
    sharp(this.#above);
  }

  /** Draws a run, unless that picture is there already. */
  show(film: Film, scales: Scales): void {
    const drawn = [...scales, this.#still.clientWidth, devicePixelRatio, colours().paper].join(" ");
    if (film === this.#film && drawn === this.#drawn) return;
    [this.#film, this.#scales, this.#drawn] = [film, scales, drawn];
    const { pen, width, height } = sharp(this.#still);
    const layout = new Layout(width, height);
    PANELS.forEach((panel, place) => {
      const most = scales[place] as number;
      frame(pen, layout, place, most);
      const curves = curvesOf(film, panel);
      pen.save();
      pen.beginPath();
      pen.rect(layout.left, layout.top(place) - 1, layout.right - layout.left, layout.bottom(place) - layout.top(place) + 2);
      pen.clip();
      pen.lineWidth = curves.length > 4 ? 1 : 1.4;
      pen.lineJoin = "round";
      pen.globalAlpha = curves.length > 4 ? 0.75 : 1;
      curves.forEach((curve, order) => {
        pen.strokeStyle = panel.quantity === "queue_packets" ? colours().muted : colourOf(film.groups, curve.group, order);
        const instant = film.interval;
        draw(
          pen,
          curve.values,
          (at) => layout.x((at + 1) * instant, film.duration),
          (value) => layout.y(place, value, most),
        );
      });
      pen.restore();
    });
    this.#titled = layout.titled;
    events(pen, film, layout);
    timeAxis(pen, layout, film.duration, height);
  }

  /** Draws the cursor, and the numbers where it is. */
  point(at: number): void {
    const film = this.#film;
    if (!film) return;
    const { pen, width, height } = sharp(this.#above);
    const layout = new Layout(width, height);
    const { ink, paper } = colours();
    const x = Math.round(layout.x(at, film.duration)) + 0.5;
    pen.strokeStyle = ink;
    pen.lineWidth = 1;
    pen.globalAlpha = 0.55;
    pen.beginPath();
    pen.moveTo(x, layout.top(0) - 4);
    pen.lineTo(x, height - BELOW + 2);
    pen.stroke();
    pen.globalAlpha = 1;
    PANELS.forEach((panel, number) => {
      const most = this.#scales[number] as number;
      const shown = curvesOf(film, panel).slice(0, 8);
      const numbers = shown.map((curve) => now(film, panel, curve, at));
      shown.forEach((curve, order) => {
        const value = numbers[order] as number;
        if (Number.isNaN(value)) return;
        pen.fillStyle = panel.quantity === "queue_packets" ? colours().muted : colourOf(film.groups, curve.group, order);
        pen.strokeStyle = paper;
        pen.lineWidth = 1.5;
        pen.beginPath();
        pen.arc(x, layout.y(number, Math.min(value, most), most), 3, 0, 2 * Math.PI);
        pen.fill();
        pen.stroke();
      });
      const values = numbers.slice(0, 3).map(short);
      const room = layout.right - (this.#titled[number] ?? 0);
      while (values.length > 0 && pen.measureText(values.join("  ")).width > room) values.pop();
      pen.fillStyle = ink;
      pen.textAlign = "right";
      pen.textBaseline = "alphabetic";
      pen.fillText(values.join("  "), layout.right, layout.top(number) - 7);
    });
  }
}
