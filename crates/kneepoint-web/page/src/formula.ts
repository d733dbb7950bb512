// SPDX-License-Identifier: Apache-2.0 OR MIT
// Formulas as comments of sources write them, `W <- (1 - β) W_max²`, to MathML. Nothing is left out and nothing is computed:
// signs, subscripts, powers, roots, and fractions whose meaning does not depend on the order of operations.

/** A piece of a formula: as it was written, and whether a space stands before it. */
export interface Sign {
  text: string;
  spaced: boolean;
}

/** How a sign is set. */
const SET: Record<string, string> = {
  "<-": "←", "->": "→", "<=": "≤", ">=": "≥", "+=": "+=", "-=": "−=", "-": "−", "*": "*", "...": "…",
};

export const OPERATOR = /^(?:<-|->|<=|>=|\+=|-=|[-=<>+·/^≈|*×…])$/;
const FUNCTIONS = new Set(["min", "max", "exp", "ln", "log", "sqrt", "cbrt", "clamp", "argmax"]);
/** A name with what stands below it: `Wmax`, `t1`, `B_lo`, `RTTmin`. */
const BELOW = /^(?:(RTT|[A-Za-zα-ωΔ])(?:_(.+)|(\d+|max|min))|(RTT|[A-Zα-ωΔ])(cubic|est|epoch|prior|thresh|ref|previous|[nvrTL]))$/;

export const isFunction = (text: string): boolean => FUNCTIONS.has(text);
export const isBelow = (text: string): boolean => BELOW.test(text);

export const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** The pieces of a text. */
export function signs(text: string): Sign[] {
  const found = text.matchAll(/(\s*)(<-|->|<=|>=|\+=|-=|\.\.\.|\d+(?:\.\d+)?(?:e-?\d+)?|[A-Za-z]{2,}(?:-[A-Za-z]{2,})+|[A-Za-z]{2,}'s(?![a-z])|[A-Za-zα-ω]'(?![a-z])|[A-Za-zα-ωΑ-Ω][A-Za-z0-9α-ωΑ-Ω]*(?:_[A-Za-z0-9.]*[A-Za-z0-9])*|\S)/g);
  return [...found].map(([, space = "", sign = ""]) => ({ text: sign, spaced: space !== "" }));
}

const row = (markup: string): string => `<mrow>${markup}</mrow>`;
const operator = (text: string): string => `<mo>${escaped(SET[text] ?? text)}</mo>`;
function name(text: string): string {
  if (text.endsWith("'")) return row(`${name(text.slice(0, -1))}<mo>′</mo>`);
  return text.length === 1 ? `<mi>${text}</mi>` : `<mi mathvariant="normal">${escaped(text)}</mi>`;
}

function atom(text: string): string {
  if (/^\d/.test(text)) return `<mn>${text}</mn>`;
  const below = BELOW.exec(text);
  if (!below) return name(text);
  const small = below[2] ?? below[3] ?? below[5] ?? "";
  return `<msub>${name((below[1] ?? below[4]) as string)}${/^[\d.]+$/.test(small) ? `<mn>${small}</mn>` : name(small)}</msub>`;
}

/** An operand with its power, or an operator. */
interface Part {
  markup: string;
  /** Whether another operand may stand beside it: a product. */
  operand: boolean;
  text: string;
  spaced: boolean;
  /** What is within its brackets, where a fraction needs none. */
  inner?: string;
}

const CLOSING: Record<string, string> = { "(": ")", "[": "]" };

class Reader {
  #at = 0;
  readonly #signs: Sign[];

  constructor(signs: Sign[]) {
    this.#signs = signs;
  }

  /** All until a closing bracket, or the end. */
  parts(closing?: string): Part[] {
    const parts: Part[] = [];
    while (this.#at < this.#signs.length && this.#signs[this.#at]?.text !== closing) {
      const part = this.#part();
      if (part.text === "^" && parts.length > 0 && this.#at < this.#signs.length) this.#raise(parts, this.#power());
      else if (/^[²³]$/.test(part.text) && parts.length > 0) this.#raise(parts, { ...part, markup: `<mn>${part.text === "²" ? 2 : 3}</mn>` });
      else parts.push(part);
    }
    return fractions(parts);
  }

  /** An operand, with its sign. */
  #power(): Part {
    const part = this.#part();
    return part.text === "-" ? { ...part, markup: row(`${part.markup}${this.#part().markup}`) } : part;
  }

  #raise(parts: Part[], power: Part): void {
    const { markup, ...rest } = parts.pop() as Part;
    delete rest.inner;
    parts.push({ ...rest, markup: `<msup>${row(markup)}${row(power.inner ?? power.markup)}</msup>` });
  }

  #part(): Part {
    const { text, spaced } = this.#signs[this.#at++] as Sign;
    const operand = true;
    const bracket = CLOSING[text];
    if (bracket !== undefined) {
      const inner = beside(this.parts(bracket));
      // Intervals close as they like, and a line may end within a bracket.
      const close = this.#signs[this.#at] ? operator((this.#signs[this.#at++] as Sign).text) : "";
      return { markup: row(`${operator(text)}${inner}${close}`), operand, text, spaced, inner };
    }
    const next = this.#signs[this.#at]?.text ?? "";
    if ((text === "sqrt" || text === "cbrt") && next === "(") {
      const inside = row(this.#part().inner ?? "");
      return { markup: text === "sqrt" ? `<msqrt>${inside}</msqrt>` : `<mroot>${inside}<mn>3</mn></mroot>`, operand, text, spaced };
    }
    if (FUNCTIONS.has(text) && (next === "(" || /^[\dA-Za-zα-ω]/.test(next))) {
      return { markup: row(`${name(text)}${next === "(" ? "" : SPACE}${this.#part().markup}`), operand, text, spaced };
    }
    if (/^[\dA-Za-zα-ωΑ-Ω]/.test(text)) return { markup: atom(text), operand, text, spaced };
    return { markup: operator(text), operand: false, text, spaced };
  }
}

/** Whether a stroke divides what stands at both of its sides alone: no factor is beside them, or they touch it. */
function divides(before: Part | undefined, stroke: Part, under: Part, after: Part | undefined): boolean {
  if (before?.text === "/" || after?.text === "/") return false;
  return (!stroke.spaced && !under.spaced) || (!before?.operand && !after?.operand);
}

/** Stacks a fraction where its meaning is plain: `a b / c` keeps its stroke. */
function fractions(parts: Part[]): Part[] {
  const done: Part[] = [];
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] as Part;
    const [over, under] = [done.at(-1), parts[at + 1]];
    if (part.text !== "/" || !over?.operand || !under?.operand || !divides(done.at(-2), part, under, parts[at + 2])) {
      done.push(part);
      continue;
    }
    done.pop();
    const markup = `<mfrac>${row(over.inner ?? over.markup)}${row(under.inner ?? under.markup)}</mfrac>`;
    done.push({ markup, operand: true, text: "", spaced: over.spaced });
    at += 1;
  }
  return done;
}

const SPACE = '<mspace width="0.2em"/>';

/** Parts in a row. Operands side by side are a product, where a space divides them. */
const beside = (parts: Part[]): string =>
  parts.map(({ markup, operand, spaced }, place) => (spaced && operand && parts[place - 1]?.operand ? `${SPACE}${markup}` : markup)).join("");

/** A formula in MathML. */
export const formula = (all: Sign[]): string => `<math displaystyle="true">${beside(new Reader(all).parts())}</math>`;
