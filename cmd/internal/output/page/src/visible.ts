// Every text of the page is shown with escapes in place of control characters and of those that turn the direction of text,
// so that no name, value or message looks like something else.
import { type ComponentChildren, options } from "preact";

const odd = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/g;
export const visible = (text: string) => text.replace(odd, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

const inside = (x: ComponentChildren): ComponentChildren => typeof x === "string" ? visible(x) : Array.isArray(x) ? x.map(inside) : x;
const before = options.vnode;
options.vnode = (node) => {
  const props = node.props as { children?: ComponentChildren } & Record<string, unknown>;
  if (typeof node.type === "string") {
    if (props.children !== undefined) props.children = inside(props.children);
    for (const name of ["title", "aria-label"]) if (typeof props[name] === "string") props[name] = visible(props[name]);
  }
  before?.(node);
};
