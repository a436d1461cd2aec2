import { isolate } from './isolate.ts';
import { type Placeholder, translated, translatedPlural } from './language.ts';

type Value = string | number;
type Values<Text extends string> = Readonly<Record<Placeholder<Text>, Value>>;
type MaybeValues<Text extends string> = [Placeholder<Text>] extends [never] ? [] : [values: Values<Text>];

const placeholder = /\{(\w+)\}/g;
const fill = (text: string, values: Readonly<Record<string, Value>>): string =>
  text.replace(placeholder, (whole, name: string) => isolate(String(values[name] ?? whole)));

/**
 * A text of the page in its language: `t('{name} is let in.', { name })`. The English text is its own key, and a literal, so that
 * `scripts/write-texts.ts` finds it.
 */
export const t = <const Text extends string>(text: Text, ...[values]: MaybeValues<Text>): string =>
  fill(translated(text), values ?? {});

const numbers = new Intl.NumberFormat();

/** A text for a number of things: `plural(3, '{n} message', '{n} messages')`. `{n}` is the number as the person's country writes it. */
export const plural = <const One extends string, const Many extends string>(
  value: number,
  one: One,
  many: Many,
  ...[values]: [Exclude<Placeholder<One | Many>, 'n'>] extends [never]
    ? []
    : [values: Readonly<Record<Exclude<Placeholder<One | Many>, 'n'>, Value>>]
): string => fill(translatedPlural(value, one, many), { ...values, n: numbers.format(value) });

/** The pieces of a text around parts that are more than text: links, emphasis. Each language has its own order. */
export function pieces<const Text extends string, Part>(
  text: Text,
  parts: Readonly<Record<Placeholder<Text>, Part>>,
): (string | Part)[] {
  const byName: Readonly<Record<string, Part>> = parts;
  return translated(text)
    .split(placeholder)
    .map((piece, index) => (index % 2 === 0 ? piece : isolated(byName[piece] ?? `{${piece}}`)));
}

const isolated = <Part>(part: Part | string): Part | string => (typeof part === 'string' ? isolate(part) : part);
