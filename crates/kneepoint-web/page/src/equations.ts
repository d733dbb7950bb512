// SPDX-License-Identifier: Apache-2.0 OR MIT
// Equations of an explanation, which stand in columns with words between them, as a table with formulas.

import { escaped, formula, isBelow, isFunction, OPERATOR, type Sign, signs } from "./formula.ts";

/** Words of a sentence, or a piece of a formula. */
type Kind = "words" | "formula";

/** More than a letter, and no name of the formula. */
const isWord = (text: string): boolean => /^[A-Za-z][a-z]+(-[a-z]+)*$|'s$/.test(text) && !isFunction(text) && !isBelow(text);
/** Whether something is computed with what stands beside it; a note in brackets has a space before it. */
const isOperator = (sign: Sign | undefined): boolean =>
  sign !== undefined && (OPERATOR.test(sign.text) || (sign.text === "(" && !sign.spaced) || sign.text === ")");

/** Which pieces are words: several in a row, or one beside which nothing is computed. */
function kinds(all: Sign[]): Kind[] {
  let depth = 0;
  return all.map(({ text }, place): Kind => {
    const [before, after] = [all[place - 1], all[place + 1]];
    if (text === "(" || text === "[") depth += 1;
    if (text === ")" || text === "]") depth -= 1;
    if (depth > 0 && !isWord(text)) return "formula";
    if (isWord(text)) {
      const several = (before && isWord(before.text)) || (after && isWord(after.text));
      return !several && (isOperator(before) || isOperator(after)) ? "formula" : "words";
    }
    if (text === "a" && after && isWord(after.text)) return "words";
    if (/^\d/.test(text)) return isOperator(before) || isOperator(after) || (after && !isWord(after.text) && /^[A-Za-zα-ω(]/.test(after.text)) ? "formula" : "words";
    if (/^[A-Za-zα-ωΑ-Ω²³)\]]/.test(text) || OPERATOR.test(text)) return "formula";
    return "words";
  });
}

/** A cell of the table: sentences as they are, formulas set. */
export function cell(text: string): string {
  const all = signs(text);
  const kind = kinds(all);
  let markup = "";
  for (let from = 0; from < all.length; ) {
    let to = from;
    while (to < all.length && kind[to] === kind[from]) to += 1;
    const run = all.slice(from, to);
    if (run[0]?.spaced && from > 0) markup += " ";
    const plain = run.map((sign, place) => (sign.spaced && place > 0 ? " " : "") + sign.text).join("");
    markup += kind[from] === "formula" ? formula(run) : escaped(plain);
    from = to;
  }
  return markup;
}

/** The cells of a line: what two spaces or more divide. */
function cells(line: string): { at: number; text: string }[] {
  return [...line.matchAll(/\S+(?: \S+)*/g)].map((found) => ({ at: found.index, text: found[0] }));
}

/** The rows of a table with the equations of a text. */
export function equations(text: string): string {
  const lines = text.replaceAll("`", "").split("\n").map(cells);
  const starts = [...new Set(lines.flat().map(({ at }) => at))].sort((one, other) => one - other);
  const rows = lines.map((line) => {
    let [markup, column] = ["", 0];
    line.forEach(({ at, text: own }, place) => {
      const [from, next] = [starts.indexOf(at), line[place + 1]?.at];
      const to = next === undefined ? starts.length : starts.indexOf(next);
      if (from > column) markup += `<td colspan="${from - column}"></td>`;
      markup += `<td colspan="${to - from}">${cell(own)}</td>`;
      column = to;
    });
    return `<tr>${markup}</tr>`;
  });
  return rows.join("");
}
