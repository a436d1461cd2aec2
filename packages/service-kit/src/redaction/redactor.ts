import { detect, detectInLog, type Audience } from './detection.ts';
import { asLogLine } from './log-line.ts';
import { isPartOfPlaceholder } from './placeholder.ts';
import { createPatternMatcher } from './pattern-matcher.ts';
import { spellings } from './spellings.ts';
import { createStreamRedactor, type StreamRedactor } from './stream-redactor.ts';

/** The one sink that every outbound text passes. It only ever works on the way out; nothing stored is masked. */
export type Redactor = {
  text(text: string): string;
  /** A copy of any JSON value with every string in it redacted, keys included. */
  value(value: unknown): unknown;
  stream(): StreamRedactor;
  /** Known values only: for what a machine reads and must not find changed otherwise. */
  known(text: string): string;
  /** For a line of a log: known values, and what has the form of a secret by the rules that are quick. */
  logLine(line: string): string;
  /** The same for a surface that strangers read: masks what tells of persons and networks too. */
  readonly forPublic: Redactor;
};

/** Deeper parts of a value are left out: nothing that a person or a tool writes goes as far. */
const maxDepth = 100;

/**
 * A redactor of the given exact values, in the spellings a model or a tool may give them, and of what looks like a secret.
 * `linkHosts`: where links for the public may lead; anywhere when it is empty.
 */
export function createRedactor(secrets: Iterable<string>, linkHosts: readonly string[] = []): Redactor {
  const patterns = new Set<string>();
  for (const secret of secrets) {
    if (isPartOfPlaceholder(secret)) continue; // it would be masked in every mask
    for (const spelling of spellings(secret)) patterns.add(spelling);
  }
  const matcher = createPatternMatcher([...patterns]);
  const known = (input: string) => throughStream(createStreamRedactor(matcher), input);

  const redactorFor = (audience: Audience, forPublic: () => Redactor): Redactor => {
    const text = (input: string) => throughStream(detect(audience, linkHosts), known(input));
    return {
      text,
      value: (value) => mapStrings(value, text),
      stream: () => chained(createStreamRedactor(matcher), detect(audience, linkHosts)),
      known,
      logLine: (line) => asLogLine(line, throughStream(detectInLog(), known(line))),
      get forPublic() {
        return forPublic();
      },
    };
  };
  const forPublic: Redactor = redactorFor('public', () => forPublic);
  return redactorFor('private', () => forPublic);
}

/** A long text goes piece by piece, so that nothing is done to the whole of it at once. */
const pieceLength = 16_384;

function throughStream(stream: StreamRedactor, text: string): string {
  if (text.length <= pieceLength) return stream.push(text) + stream.end();
  let out = '';
  for (let at = 0; at < text.length; at += pieceLength) out += stream.push(text.slice(at, at + pieceLength));
  return out + stream.end();
}

const chained = (first: StreamRedactor, second: StreamRedactor): StreamRedactor => ({
  push: (text) => second.push(first.push(text)),
  end: () => second.push(first.end()) + second.end(),
});

function mapStrings(value: unknown, map: (text: string) => string, depth = 0): unknown {
  if (typeof value === 'string') return map(value);
  if (value === null || typeof value !== 'object') return value;
  if (depth === maxDepth) return '…';
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, map, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [map(key), mapStrings(item, map, depth + 1)]));
}
