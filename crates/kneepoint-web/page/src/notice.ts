// SPDX-License-Identifier: Apache-2.0 OR MIT
// Messages above the player, in view wherever the page is scrolled to; a reader of screens speaks them.

import { make, named } from "./dom.ts";
import { button } from "./player.ts";

/** A way out of what a message says. */
export interface Way {
  text: string;
  act: () => void;
}

/** At most this much of a message: a file's own first line may be part of it. */
const LONGEST = 420;

/** A text of somebody else's on one line, without signs that cannot be seen. */
export function printable(text: string): string {
  const plain = text.replace(/[\p{Cc}\p{Cf}\ufffd]+/gu, "·").replaceAll("`", "");
  return plain.length > LONGEST ? `${plain.slice(0, LONGEST)} …` : plain;
}

function fill(place: HTMLElement, text: string, ways: Way[]): void {
  place.replaceChildren(make("p", {}, text), ...(ways.length > 0 ? [make("p", { class: "buttons" }, ...ways.map((way) => button(way.text, way.act)))] : []));
}

/** Says something until the reader closes it, or something else is said. */
export function say(text: string, ...ways: Way[]): void {
  fill(named("notice"), text, [...ways, { text: "Close", act: quiet }]);
}

export const quiet = (): void => named("notice").replaceChildren();

/** Says why a setting is refused, as long as it is. */
export const refuse = (text: string, ...ways: Way[]): void => fill(named("refused"), text, ways);

/** Marks the controls that are refused; the message describes them. */
export function blame(controls: (HTMLElement | null | undefined)[]): void {
  for (const control of controls) {
    control?.setAttribute("aria-invalid", "true");
    if (!control) continue;
    const own = control.getAttribute("aria-describedby") ?? "";
    if (!own.startsWith("refused")) control.setAttribute("aria-describedby", `refused ${own}`.trim());
  }
}

/** Nothing is refused any more. */
export function accept(): void {
  const place = named("refused");
  if (place.childElementCount > 0) place.replaceChildren();
  for (const control of document.querySelectorAll("[aria-invalid]")) {
    control.removeAttribute("aria-invalid");
    const own = (control.getAttribute("aria-describedby") ?? "").replace(/^refused ?/, "");
    if (own) control.setAttribute("aria-describedby", own);
    else control.removeAttribute("aria-describedby");
  }
}

/** Marks what is on the page as older than the settings, and says so in each part; without a text it is of these settings. */
export function mark(text: string | undefined): void {
  const stage = named("stage");
  if (text === undefined && !stage.classList.contains("stale")) return;
  stage.classList.toggle("stale", text !== undefined);
  for (const place of document.querySelectorAll<HTMLElement>(".old")) {
    if (place.textContent !== (text ?? "")) place.textContent = text ?? "";
    place.hidden = text === undefined;
  }
}
