// SPDX-License-Identifier: Apache-2.0 OR MIT
// What drawings have in common: colours of the page, sharp canvases, and round numbers on axes.

/** The colours of the laboratory's charts, as the page has them by day or by night. */
export interface Colours {
  paper: string;
  ink: string;
  muted: string;
  faint: string;
  track: string;
  series: string[];
}

let known: Colours | undefined;

export function colours(): Colours {
  if (known) return known;
  const style = getComputedStyle(document.documentElement);
  const named = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const series = [0, 1, 2, 3, 4, 5, 6, 7].map((place) => named(`s${place}`));
  known = { paper: named("paper"), ink: named("ink"), muted: named("muted"), faint: named("faint"), track: named("track"), series };
  return known;
}

/** Calls back when the page turns light or dark. */
export function onTheme(act: () => void): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    known = undefined;
    act();
  });
}

/** The colour of a flow: that of its group where there are several. */
export function colourOf(groups: number, group: number | null, flow: number): string {
  const { series } = colours();
  return series[(groups > 1 ? (group ?? 0) : flow) % series.length] as string;
}

/** A canvas that is as sharp as the screen; its context in CSS pixels, and its size. */
export function sharp(canvas: HTMLCanvasElement): { pen: CanvasRenderingContext2D; width: number; height: number } {
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const ratio = devicePixelRatio || 1;
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== across || canvas.height !== down) [canvas.width, canvas.height] = [across, down];
  const pen = canvas.getContext("2d") as CanvasRenderingContext2D;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = "11px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
  return { pen, width, height };
}

/** A step of 1, 2 or 5 times a power of ten, so that about this many fit into a range. */
export function roundStep(range: number, steps: number): number {
  const rough = Math.max(range / steps, 1e-9);
  const power = 10 ** Math.floor(Math.log10(rough));
  const digit = rough / power;
  return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

const TOPS = [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10];

/** The least round number that is not below a value. */
export function roundTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-6)));
  return power * (TOPS.find((top) => top * power >= value) ?? 10);
}

/** A number to three digits, without zeros that say nothing. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (value !== 0 && Math.abs(value) < 1e-3) return value.toExponential(1);
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return String(Number(value.toFixed(Math.abs(value) < 1 ? 3 : digits)));
}
