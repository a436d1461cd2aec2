import { cloneElement, createElement, Fragment, isValidElement, type ReactElement, type ReactNode } from 'react';
import { isolate } from './isolate.ts';
import type { Placeholder } from './language.ts';
import { pieces } from './t.ts';

type Parts<Text extends string> = Readonly<Record<Placeholder<Text>, ReactNode>>;

/** A text with elements in it: `<Rich text="{name} is on {place}." name={<b>{name}</b>} place={place} />`. */
export function Rich<const Text extends string>(props: { text: Text } & Parts<Text>): ReactElement {
  const { text, ...parts } = props;
  const isolated = Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, inElement(part as ReactNode)]));
  // As its children, not as a list: pieces of a text need no keys.
  return createElement(Fragment, null, ...pieces<Text, ReactNode>(text, isolated as Parts<Text>));
}

/** The browser ends an element's directions with the element, unless its text ends them itself. */
function inElement(part: ReactNode): ReactNode {
  if (!isValidElement<{ children?: ReactNode }>(part)) return part;
  const { children } = part.props;
  return typeof children === 'string' ? cloneElement(part, {}, isolate(children)) : part;
}
