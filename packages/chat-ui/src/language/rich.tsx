import { createElement, Fragment, type ReactElement, type ReactNode } from 'react';
import type { Placeholder } from './language.ts';
import { pieces } from './t.ts';

type Parts<Text extends string> = Readonly<Record<Placeholder<Text>, ReactNode>>;

/** A text with elements in it: `<Rich text="{name} is on {place}." name={<b>{name}</b>} place={place} />`. */
export function Rich<const Text extends string>(props: { text: Text } & Parts<Text>): ReactElement {
  // As its children, not as a list: pieces of a text need no keys.
  return createElement(Fragment, null, ...pieces<Text, ReactNode>(props.text, props));
}
