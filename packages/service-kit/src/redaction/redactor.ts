import { detect, detectInLog, type Audience } from './detection.ts';
import { asLogLine } from './log-line.ts';
import { maskValue } from './mask-value.ts';
import type { Offload, Offloads, OffloadStream } from './offload.ts';
import { isQuietWhole } from './quiet-whole.ts';
import { createSecretMatcher, type SecretMatcher } from './secret-matcher.ts';
import { createStreamPool } from './stream-pool.ts';
import { chained, createStreamRedactor, type StreamRedactor } from './stream-redactor.ts';

/** The one sink that every outbound text passes. It only ever works on the way out; nothing stored is masked. */
export type Redactor = {
  text(text: string): string;
  /** The same of a long text, made in a thread where there is one. */
  readonly offload?: Offload;
  readonly offloadStream?: OffloadStream;
  /** A copy of any JSON value with every string in it redacted, keys included; a number that is a known value becomes a mask. */
  value(value: unknown): unknown;
  stream(): StreamRedactor;
  /** Known values only: for what a machine reads and must not find changed otherwise. */
  known(text: string): string;
  /** The same as a filter of texts and streams. */
  readonly knownOnly: Pick<Redactor, 'text' | 'stream' | 'offload'>;
  /** For a line of a log: known values, and what has the form of a secret by the rules that are quick. */
  logLine(line: string): string;
  /** The same for a surface that strangers read: masks what identifies persons and networks too. */
  readonly forPublic: Redactor;
  /** The same for redactors of the same values: what one has masked the other need not look at. */
  readonly edition: symbol;
};

/**
 * A redactor of the given exact values, in the spellings a model or a tool may give them, and of what looks like a secret.
 * `linkHosts`: where links for the public may lead; anywhere when it is empty.
 */
export const createRedactor = (secrets: Iterable<string>, linkHosts: readonly string[] = []): Redactor =>
  redactorOf([createSecretMatcher(secrets)], { edition: Symbol('edition'), linkHosts });

type RedactorOptions = { edition: symbol; linkHosts?: readonly string[]; offloads?: Offloads };

/** A redactor of what any of the matchers finds. */
export function redactorOf(matchers: readonly SecretMatcher[], { edition, linkHosts = [], offloads }: RedactorOptions): Redactor {
  const knownStream = createStreamPool(() => matchers.map(createStreamRedactor).reduce(chained));
  const known = (input: string) => {
    if (matchers.every((matcher) => isQuietWhole(input, matcher))) return input;
    return throughStream(knownStream(), input);
  };

  const redactorFor = (audience: Audience, forPublic: () => Redactor): Redactor => {
    const text = (input: string) => throughStream(detect(audience, linkHosts), known(input));
    return {
      text,
      ...(offloads !== undefined && { offload: offloads.text(audience), offloadStream: offloads.stream(audience, edition) }),
      value: (value) => maskValue(value, { text, number: known }),
      stream: () => chained(knownStream(), detect(audience, linkHosts)),
      known,
      knownOnly: { text: known, stream: knownStream, ...(offloads !== undefined && { offload: offloads.text('known') }) },
      edition,
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
