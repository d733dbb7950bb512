// SPDX-License-Identifier: Apache-2.0 OR MIT
// The bottleneck at an instant: waiting packets, packets in flight, drops and marks, each in the colour of its flow.

import { type Film, PACKETS } from "./film.ts";
import { colourOf, colours, sharp } from "./paint.ts";

/** The part of the picture's width where the queue ends and the way begins. */
const ROUTER = 0.62;
const TOP = 24;
/** The part of the height that the longest queue fills. */
const FULL = 0.735;
/** Of more drops at a time the first are drawn, and all are counted. */
const CROSSES = 24;

/** Boxes in few colours: each colour is set once. */
class Boxes {
  readonly #by = new Map<string, number[]>();

  add(colour: string, x: number, y: number): void {
    const places = this.#by.get(colour);
    if (places) places.push(x, y);
    else this.#by.set(colour, [x, y]);
  }

  draw(pen: CanvasRenderingContext2D, width: number, height: number): void {
    for (const [colour, places] of this.#by) {
      pen.fillStyle = colour;
      for (let at = 0; at < places.length; at += 2) {
        pen.fillRect(places[at] as number, places[at + 1] as number, width, height);
      }
    }
  }
}

/** The size of the boxes, so that the longest queue of all schemes has room, and how many stand one above another. */
function cell(room: number, depth: number, longest: number): { size: number; rows: number } {
  const rows = (size: number): number => Math.max(1, Math.floor((FULL * depth) / size));
  const size = [9, 7, 5, 3, 2].find((size) => Math.floor(room / size) * rows(size) >= longest) ?? 1;
  return { size, rows: rows(size) };
}

export class Network {
  readonly #canvas: HTMLCanvasElement;

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas;
  }

  /** Draws an empty queue, before anything is known. */
  blank(): void {
    const { pen, width, height } = sharp(this.#canvas);
    pen.fillStyle = colours().track;
    pen.fillRect(0, TOP, Math.round(width * ROUTER) - 4, height - 26 - TOP);
  }

  /** Draws an instant; drops of the last `memory` seconds are still shown. */
  show(film: Film, at: number, longest: number, memory: number): void {
    const { pen, width, height } = sharp(this.#canvas);
    const { ink, muted, faint, track, paper, series } = colours();
    const colour = (packet: number): string => colourOf(film.groups, film.group[packet] as number, film.flow[packet] as number);
    const sight = film.sight(at, memory);
    const [head, foot] = [Math.round(width * ROUTER), height - 26];
    const room = head - 10;
    const { size, rows } = cell(room, foot - TOP, longest);
    const columns = Math.floor(room / size);

    pen.fillStyle = track;
    pen.fillRect(0, TOP, room + 6, foot - TOP);
    pen.fillStyle = muted;
    pen.textBaseline = "alphabetic";
    pen.textAlign = "left";
    const stands = film.waiting(at);
    pen.fillText(`${stands} in the queue`, 0, TOP - 8);
    pen.textAlign = "right";
    pen.fillText(film.answer.film.link, width - 6, TOP - 8);

    if (!film.kept(at) && room > 220) {
      pen.textAlign = "left";
      pen.fillStyle = muted;
      pen.fillText(`by flow: only the first ${PACKETS.toLocaleString("en")} packets`, 0, height - 8);
    }

    // The head of the queue is at the router; a column fills from below.
    const boxes = new Boxes();
    const marked: [number, number][] = [];
    const waiting = film.kept(at) ? sight.waiting : [];
    for (let place = 0; place < Math.min(stands, columns * rows); place++) {
      const x = head - 6 - (Math.floor(place / rows) + 1) * size;
      const y = foot - ((place % rows) + 1) * size;
      const packet = waiting[place];
      boxes.add(packet === undefined ? muted : colour(packet), x, y);
      if (packet !== undefined && film.fate[packet] === 1) marked.push([x, y]);
    }
    // A gap between boxes of a few pixels would be half of the picture.
    const side = size > 3 ? size - 1 : size;
    boxes.draw(pen, side, side);
    pen.strokeStyle = ink;
    pen.lineWidth = 1;
    if (size > 3) for (const [x, y] of marked) pen.strokeRect(x + 0.5, y + 0.5, size - 2, size - 2);

    // The router, and the way behind it.
    const middle = (TOP + foot) / 2;
    pen.strokeStyle = faint;
    pen.lineWidth = 10;
    pen.lineCap = "round";
    pen.beginPath();
    pen.moveTo(head + 12, middle);
    pen.lineTo(width - 14, middle);
    pen.stroke();
    pen.fillStyle = paper;
    pen.strokeStyle = muted;
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.roundRect(head - 4, TOP - 3, 8, foot - TOP + 6, 3);
    pen.fill();
    pen.stroke();
    const flying = new Boxes();
    for (const [packet, share] of sight.travelling) {
      flying.add(colour(packet), head + 8 + share * (width - head - 24), middle - 3.5 + ((film.flow[packet] as number) % 3) * 2);
    }
    flying.draw(pen, 3, 3);

    // Dropped packets fall out of the queue and fade.
    pen.lineWidth = 1.6;
    for (const [packet, age] of sight.dropped.slice(0, CROSSES)) {
      pen.globalAlpha = 1 - age;
      pen.strokeStyle = colour(packet);
      const x = head - 14 - ((packet * 7) % Math.max(8, room - 24));
      const y = foot + 4 + age * 16;
      pen.beginPath();
      pen.moveTo(x - 3, y - 3);
      pen.lineTo(x + 3, y + 3);
      pen.moveTo(x + 3, y - 3);
      pen.lineTo(x - 3, y + 3);
      pen.stroke();
    }
    pen.globalAlpha = 1;
    pen.textAlign = "right";
    const [dropped, marks] = [sight.dropped.length, marked.length];
    if (dropped > 0) {
      pen.fillStyle = ink;
      pen.fillText(`${dropped} dropped`, width - 6, height - 8);
    } else if (marks > 0) {
      pen.fillStyle = series[4] as string;
      pen.fillText(`${marks} marked`, width - 6, height - 8);
    }
  }
}
