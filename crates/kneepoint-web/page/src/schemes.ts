// SPDX-License-Identifier: Apache-2.0 OR MIT
// The columns: the values of the one axis that a scenario sweeps, how each is edited, and the description of each
// algorithm.

import { choice, make } from "./dom.ts";
import { equations } from "./equations.ts";
import type { Algorithm, Catalogue, Field, Tree } from "./types.ts";

/** The axis of a sweep, and its values as they are written. */
export interface Axis {
  path: string;
  values: unknown[];
}

/** An algorithm with settings: `pert:t1=5ms`. */
interface Chosen {
  name: string;
  settings: [string, string][];
}

/** The first axis of a scenario; nothing where it sweeps none. */
export function axisOf(tree: Tree): Axis | undefined {
  const sweep = tree["sweep"];
  if (typeof sweep !== "object" || Array.isArray(sweep)) return undefined;
  const walk = (prefix: string, table: Tree): Axis | undefined => {
    for (const [key, value] of Object.entries(table)) {
      if (Array.isArray(value)) return { path: prefix + key, values: value };
      if (typeof value === "object") return walk(`${prefix}${key}.`, value);
    }
    return undefined;
  };
  return walk("", sweep);
}

/** The families of algorithms among the values of an axis. */
function parts(path: string): ("controllers" | "queues")[] {
  if (path === "scheme") return ["controllers", "queues"];
  if (path === "queue") return ["queues"];
  return path.endsWith(".cc") ? ["controllers"] : [];
}

function read(word: string): Chosen {
  const [name = "", settings = ""] = word.split(/:(.*)/s);
  const pairs = settings.split(",").filter((pair) => pair.includes("="));
  return { name: name.trim(), settings: pairs.map((pair) => pair.split(/=(.*)/s).slice(0, 2) as [string, string]) };
}

const write = ({ name, settings }: Chosen): string =>
  settings.length === 0 ? name : `${name}:${settings.map(([key, value]) => `${key}=${value}`).join(",")}`;

/** A parameter with its sentence. An empty field means the default. */
function parameter(field: Field, value: string, onset: (value: string) => void): HTMLElement {
  const options = field.choices.length > 0 ? field.choices.map((one) => one.name) : field.kind === "true or false" ? ["true", "false"] : [];
  const allowed = field.range ? `; ${field.range}` : "";
  const entry =
    options.length > 0
      ? choice(
          field.name,
          [{ value: "", text: `${field.default} (default)` }, ...options.filter((one) => one !== field.default).map((one) => ({ value: one, text: one }))],
          value,
          onset,
        )
      : make("input", { type: "text", value, placeholder: field.default, spellcheck: "false", onchange: (event) => onset((event.target as HTMLInputElement).value.trim()) });
  return make("label", { class: "parameter" }, make("code", {}, field.name), entry, make("small", {}, `${field.about}${options.length > 0 ? "" : ` Default ${field.default}${allowed}.`}`));
}

/** The documentation of an algorithm: paragraphs, and equations. */
function explanation({ header }: Algorithm): HTMLElement[] {
  const plain = (text: string): string => text.replace(/\[`?([^\]`]+)`?\]\([^)]*\)/g, "$1").replaceAll("`", "");
  return header.split(/```(?:text)?\n?/).flatMap((part, place): HTMLElement[] => {
    if (part.trim() === "") return [];
    if (place % 2 === 1) {
      const table = make("table");
      table.innerHTML = equations(part.trimEnd());
      return [make("div", { class: "equations", tabindex: 0, role: "region", "aria-label": "Equations" }, table)];
    }
    return part
      .trim()
      .split("\n\n")
      .map((paragraph) => make("p", {}, plain(paragraph).replace(/\n(?!\* )/g, " ").replaceAll("\n* ", "\n• ")));
  });
}

/** The description of a column and its editable fields. */
export class Head {
  readonly element = make("div", { class: "head" });
  readonly #open = new Set<string>();
  readonly #onwrong: (sentence: string) => void;
  #shown = "";

  constructor(onwrong: (sentence: string) => void) {
    this.#onwrong = onwrong;
  }

  /** Fields that were typed and refused are filled again with the next description. */
  forget(): void {
    this.#shown = "";
  }

  /** Shows the value of an axis; `onchange` has the new one. */
  show(axis: Axis | undefined, place: number, label: string, catalogue: Catalogue | undefined, onchange: (value: string) => void): void {
    const shown = JSON.stringify([axis, place, label, catalogue !== undefined]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    const controls = (): HTMLElement[] => [...this.element.querySelectorAll<HTMLElement>("select, input, summary")];
    const focused = controls().indexOf(document.activeElement as HTMLElement);
    this.#fill(axis, place, label, catalogue, onchange);
    // A reader who changed it stays where they are.
    if (focused >= 0) controls()[focused]?.focus();
  }

  #fill(axis: Axis | undefined, place: number, label: string, catalogue: Catalogue | undefined, onchange: (value: string) => void): void {
    const families = axis ? parts(axis.path) : [];
    const value = axis?.values[place];
    const title = make("h2", {}, label);
    // What has nothing to choose needs no room for it; what has gets its choices later.
    this.element.classList.toggle("plain", families.length === 0 || typeof value !== "string");
    if (families.length === 0 || typeof value !== "string" || !catalogue) {
      this.element.replaceChildren(title);
      return;
    }
    const words = value.split("/");
    const change = (part: number, word: string): void => {
      const [own] = words.splice(part, 1, word);
      // An implied discipline is written out from now on.
      if (own === undefined && part > 0) words[part] = word;
      onchange(words.join("/"));
    };
    const selects: HTMLElement[] = [];
    const panels: HTMLElement[] = [];
    families.forEach((family, part) => {
      const chosen = read(words[part] ?? "droptail");
      const noun = family === "controllers" ? "Controller" : "Queue";
      const options = catalogue[family].map(({ name, summary }) => ({ value: name, text: name, title: summary }));
      selects.push(choice(`${noun} of scheme ${place + 1}`, options, chosen.name, (name) => change(part, name)));
      const known = catalogue[family].find(({ name }) => name === chosen.name);
      if (known) panels.push(this.#panel(noun, known, chosen, (next) => change(part, write(next))));
    });
    this.element.replaceChildren(title, make("div", { class: "choices" }, ...selects), ...panels);
  }

  #panel(noun: string, known: Algorithm, chosen: Chosen, onset: (chosen: Chosen) => void): HTMLElement {
    const unfold = (panel: HTMLElement): void => {
      const fields = known.fields.map((field) => {
        const own = chosen.settings.find(([name]) => name === field.name)?.[1] ?? "";
        return parameter(field, own, (value) => {
          // These separate the parts of a scheme: the engine would read a part of the value as something else.
          if (/[,/:]/.test(value)) return this.#onwrong(`${field.name} ${value} is refused: a value has no comma, slash or colon${field.range ? `, and is ${field.range}` : ""}.`);
          const others = chosen.settings.filter(([name]) => name !== field.name);
          onset({ ...chosen, settings: value === "" || value === field.default ? others : [...others, [field.name, value]] });
        });
      });
      panel.replaceChildren(
        ...(fields.length > 0 ? [make("div", { class: "parameters" }, ...fields)] : []),
        make("details", { class: "explanation" }, make("summary", {}, `How ${known.name} works`), ...explanation(known)),
      );
    };
    const set = chosen.settings.length > 0 ? `, ${chosen.settings.length} set` : "";
    const body = make("div");
    const details: HTMLDetailsElement = make(
      "details",
      {
        class: "panel",
        open: this.#open.has(noun),
        ontoggle: () => {
          if (details.open) this.#open.add(noun);
          else this.#open.delete(noun);
          if (details.open && body.childElementCount === 0) unfold(body);
        },
      },
      make("summary", {}, `${noun}: parameters${set}`),
      make("p", { class: "about" }, known.summary),
      body,
    );
    if (details.open) unfold(body);
    return details;
  }
}

/** The next value of an axis for one more column: an algorithm that is not there yet. */
export function another(axis: Axis): string {
  const there = axis.values.map(String);
  const offered =
    axis.path === "queue"
      ? ["fq-codel", "codel", "pie", "droptail"]
      : axis.path === "scheme"
        ? ["cubic/droptail", "bbr3/droptail", "vegas/droptail", "pert/droptail", "sack/fq-codel"]
        : ["cubic", "bbr3", "vegas", "pert", "reno"];
  return offered.find((one) => !there.includes(one)) ?? (offered[0] as string);
}

/** Whether the values of an axis can be edited. */
export const editable = (axis: Axis | undefined): axis is Axis =>
  axis !== undefined && parts(axis.path).length > 0 && axis.values.every((value) => typeof value === "string");
