// Elements. Whatever comes from outside enters the page as a text node here, never as markup.

type Child = Node | string;

export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Record<string, string> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** A button that does something at once. */
export function button(label: string, action: () => void, className = "quiet"): HTMLButtonElement {
  const made = element("button", { type: "button", class: className }, label);
  made.addEventListener("click", action);
  return made;
}
