import { detect, detectInLog, type Audience } from './detection.ts';
import { asLogLine } from './log-line.ts';
import { maskValue } from './mask-value.ts';
import type { Offload, Offloads, OffloadStream } from './offload.ts';
import { isQuietWhole } from './quiet-whole.ts';
import { createSecretMatcher, type SecretMatcher } from './secret-matcher.ts';
import { createStreamPool } from './stream-pool.ts';
import { chained, createStreamRedactor, type StreamRedactor } from './stream-redactor.ts';

/** The filter that every outbound text passes. It only works on the way out; nothing is stored masked. */
export type Redactor = {
  text(text: string): string;
  /** The same for a long text, in a thread where there is one. */
  readonly offload?: Offload;
  readonly offloadStream?: OffloadStream;
  /** Copies a JSON value with every string redacted, keys included; a number that is a known value becomes a mask. */
  value(value: unknown): unknown;
  stream(): StreamRedactor;
  /** Masks known values only, for text that a machine reads and that must not change otherwise. */
  known(text: string): string;
  /** The same, for texts and streams. */
  readonly knownOnly: Pick<Redactor, 'text' | 'stream' | 'offload'>;
  /** For a log line: masks known values, and what the fast rules recognize as a secret. */
  logLine(line: string): string;
  /** The redactor for public surfaces: it also masks what identifies persons and networks. */
  readonly forPublic: Redactor;
  /** Equal for redactors of the same values: text that one has masked needs no second pass by the other. */
  readonly edition: symbol;
};

/**
 * A redactor of the given exact values, in the spellings that a model or a tool may use, and of text that looks like a secret.
 * `linkHosts`: hosts that links on public surfaces may point to; any when empty.
 */
export const createRedactor = (secrets: Iterable<string>, linkHosts: readonly string[] = []): Redactor =>
  redactorOf([createSecretMatcher(secrets)], { edition: Symbol('edition'), linkHosts });

type RedactorOptions = { edition: symbol; linkHosts?: readonly string[]; offloads?: Offloads };

/** A redactor of everything that any of the matchers finds. */
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

/** Long texts are masked in pieces of this length. */
const pieceLength = 16_384;

function throughStream(stream: StreamRedactor, text: string): string {
  if (text.length <= pieceLength) return stream.push(text) + stream.end();
  let out = '';
  for (let at = 0; at < text.length; at += pieceLength) out += stream.push(text.slice(at, at + pieceLength));
  return out + stream.end();
}
