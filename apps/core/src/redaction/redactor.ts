import { createPatternMatcher } from './pattern-matcher.ts';
import { createStreamRedactor, type StreamRedactor } from './stream-redactor.ts';

/** The one sink that every outbound text passes. It only ever works on the way out; nothing stored is masked. */
export type Redactor = {
  text(text: string): string;
  /** A copy of any JSON value with every string in it redacted, keys included. */
  value(value: unknown): unknown;
  stream(): StreamRedactor;
};

/** Deeper parts of a value are left out: nothing that a person or a tool writes goes as far. */
const maxDepth = 100;

/** Shorter values would blank ordinary words; the operator is warned of them instead. */
export const minimumSecretLength = 8;

/** A redactor of the given exact values, in the spellings a model or a tool may give them. */
export function createRedactor(secrets: Iterable<string>): Redactor {
  const patterns = new Set<string>();
  for (const secret of secrets) for (const spelling of spellings(secret)) patterns.add(spelling);
  const matcher = createPatternMatcher([...patterns]);
  const text = (input: string) => {
    if (matcher.isEmpty) return input;
    const redactor = createStreamRedactor(matcher);
    return redactor.push(input) + redactor.end();
  };
  return { text, value: (value) => mapStrings(value, text), stream: () => createStreamRedactor(matcher) };
}

function spellings(value: string): string[] {
  const secret = value.toWellFormed(); // percent-encoding refuses half a surrogate pair
  if (secret.length < minimumSecretLength) return [];
  const bytes = Buffer.from(secret, 'utf8');
  const hex = bytes.toString('hex');
  return [
    value,
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    hex,
    hex.toUpperCase(),
    ...base64Spellings(bytes, 'base64'),
    ...base64Spellings(bytes, 'base64url'),
  ].filter((spelling) => spelling.length >= minimumSecretLength);
}

/** What base64 of any text around the value contains, for the three places it can begin in a group of three bytes. */
function base64Spellings(bytes: Buffer, encoding: 'base64' | 'base64url'): string[] {
  return [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString(encoding)
      .replace(/=+$/, '');
    const tail = (shift + bytes.length) % 3 === 0 ? 0 : 1; // the last character may mix in what follows
    return encoded.slice(shift === 0 ? 0 : shift + 1, encoded.length - tail);
  });
}

function mapStrings(value: unknown, map: (text: string) => string, depth = 0): unknown {
  if (typeof value === 'string') return map(value);
  if (value === null || typeof value !== 'object') return value;
  if (depth === maxDepth) return '…';
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, map, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [map(key), mapStrings(item, map, depth + 1)]));
}
