// SPDX-License-Identifier: Apache-2.0 OR MIT
// Elements with their attributes and children in one expression.

type Attributes = Record<string, string | number | boolean | ((event: Event) => void) | undefined>;
type Child = Node | string | undefined;

/** An element. Attributes such as `onclick` are listeners; undefined and false ones are left out. */
export function make<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== undefined && value !== false) element.setAttribute(key, String(value));
  }
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

/** The element of the page with this name. */
export function named<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found as T;
}

/** A list to choose from; items with a heading are grouped under it. */
export function choice(
  label: string,
  options: { value: string; text: string; under?: string; title?: string }[],
  value: string,
  onchange: (value: string) => void,
): HTMLSelectElement {
  const select = make("select", { "aria-label": label, onchange: () => onchange(select.value) });
  const headings = new Map<string, HTMLElement>();
  for (const { value: one, text, under, title } of options) {
    const option = make("option", { value: one, title }, text);
    if (under === undefined) {
      select.append(option);
      continue;
    }
    let heading = headings.get(under);
    if (!heading) {
      heading = make("optgroup", { label: under });
      headings.set(under, heading);
      select.append(heading);
    }
    heading.append(option);
  }
  if (!options.some((option) => option.value === value)) select.append(make("option", { value }, value));
  select.value = value;
  return select;
}
