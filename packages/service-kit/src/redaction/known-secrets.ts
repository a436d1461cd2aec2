import type { Clock } from '../clock.ts';
import { ServiceError } from '../service-error.ts';
import { loadDetection } from './detection.ts';
import { createGrowingMatcher } from './growing-matcher.ts';
import { textInSlices } from './in-slices.ts';
import { createMaskThread } from './mask-thread.ts';
import { MaskedValues } from './masked-values.ts';
import { createOffloads } from './offload.ts';
import { createOutboundMask, type OutboundMask } from './outbound-mask.ts';
import { redactorOf, type Redactor } from './redactor.ts';
import { secretName } from './secret-parts.ts';
import { minimumSecretLength } from './secret-patterns.ts';
import { secretFiles, secretsInFile, unreadable, type FileStamp } from './secrets-in-files.ts';

export type SecretSources = {
  /** The service tokens. */
  values: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  secretsFile: string;
  /** The folder of connector instances, each of which may have a `keys.json`. */
  instancesDir: string;
  /** Hosts that links on public surfaces may point to; any when empty. */
  linkHosts?: readonly string[];
};

/** Settings that contain the name of a secret, which errors must be able to show. */
const namesSecret = /^SVC_\w+_KEY_SECRET$/;
const refreshMs = 1000;
const lineRefreshMs = 60_000;

/** The secrets that a process knows at the moment. */
export interface KnownSecrets {
  /** @throws when a secrets or keys file exists but cannot be read: without redaction nothing is sent. */
  redactor(): Redactor;
  /** Adds secrets that another part of the process has resolved. They are masked from the next `redactor()` on. */
  learn(values: Iterable<string>): void;
  /**
   * Masks a log line. Without replies, the files are checked once a minute. When they cannot be read, the secrets known
   * before and those learned since are masked: the log must be able to say why nothing else is sent.
   */
  line(line: string): string;
  /**
   * The mask of every sink. While the files cannot be read, the secrets known before and those learned since are masked,
   * because responses such as `/health` must be sent even then. Replies use `redactor()`, which throws.
   */
  readonly mask: OutboundMask;
  /** Why the files cannot be read; null while they can. */
  fault(): string | null;
  /** Why long texts are masked on the main thread; null while they are not. */
  threadFault(): string | null;
  close(): Promise<void>;
}

/**
 * A redactor of every secret value that this installation knows. A turn checks the files at most once a second, so a new key
 * is masked in the next turn. An unreadable file is a fault: without its secrets nothing may be sent, and every turn checks
 * the files again.
 */
export function createKnownSecrets(sources: SecretSources, clock: Clock, warn: (message: string) => void): KnownSecrets {
  const { linkHosts = [] } = sources;
  const learned = new Set<string>();
  const values = new MaskedValues(clock);
  let masked: ReadonlySet<string> = new Set();
  let edition = Symbol('edition');
  const growing = createGrowingMatcher(() => useMatchers(), warn);
  const thread = createMaskThread(clock);
  const offloads = createOffloads(thread, () => {
    currentRedactor();
    return { edition, values: masked, linkHosts };
  });
  const newRedactor = () => redactorOf(growing.matchers(), { edition, linkHosts, offloads });
  const useMatchers = () => (redactor = newRedactor());
  let redactor = newRedactor();

  let stamps: string | null = null;
  let checkedAt = Number.NEGATIVE_INFINITY;
  let fault: string | null = null;
  /** Set by the first reply: a process without replies need not keep the rules in memory. */
  let hasRules = false;

  const mask = (all: ReadonlySet<string> | null) => {
    if (all === null || !growing.set(all)) return;
    masked = all;
    edition = Symbol('edition');
    useMatchers();
  };

  const rebuild = (files: FileStamp[]) => {
    const found = gatherSecrets(sources, learned, files);
    for (const [value, name] of found) {
      if (value !== '' && value.length < minimumSecretLength) warn(`The value of ${name} is too short to be masked in replies.`);
    }
    mask(values.replace(new Set(found.keys())));
  };

  const isDue = (afterMs: number): boolean => clock.elapsed() - checkedAt >= afterMs;

  const refresh = (withRules: boolean) => {
    checkedAt = clock.elapsed();
    try {
      if (withRules) loadDetection();
      const files = secretFiles(sources);
      const stamp = files.map((each) => `${each.file}:${each.stamp}`).join('\n');
      if (stamp !== stamps) rebuild(files);
      stamps = stamp;
      fault = null;
    } catch (error) {
      stamps = null;
      // The log and other sinks still write, so they mask what is known without the files.
      if (values.isEmpty) rebuild([]);
      else mask(values.add([...learned].map((value) => value.trim())));
      fault = `No reply can be sent: ${unreadable(error)}, so secrets could not be masked. Fix that, and the next reply is sent.`;
    }
  };

  /** While the files cannot be read, this masks what was known before. */
  const currentRedactor = (): Redactor => {
    if (isDue(refreshMs)) refresh(hasRules);
    return redactor;
  };

  return {
    redactor() {
      hasRules = true;
      // The fault promises that the next reply is sent once it is fixed, so it is checked again at once.
      if (fault !== null || isDue(refreshMs)) refresh(true);
      if (fault !== null) throw new ServiceError('internal', fault, { details: { cause: 'mask' } });
      return redactor;
    },

    learn(secrets) {
      const before = learned.size;
      for (const value of secrets) learned.add(value);
      if (learned.size === before) return;
      stamps = null;
      checkedAt = Number.NEGATIVE_INFINITY;
    },

    line(line) {
      if (isDue(lineRefreshMs)) refresh(false);
      return redactor.logLine(line);
    },

    mask: createOutboundMask((text) => currentRedactor().known(text), {
      inSlices: (text) => textInSlices(currentRedactor().knownOnly, text),
      offload: offloads.text('json'),
    }),

    fault: () => fault,
    threadFault: () => thread.fault(),
    close: () => thread.close(),
  };
}

/** Every secret of the sources, with the name under which warnings mention it. @throws when a file cannot be read */
function gatherSecrets(sources: SecretSources, learned: Iterable<string>, files: readonly FileStamp[]): Map<string, string> {
  const found = new Map<string, string>();
  const add = (name: string, value: string) => void found.set(value.trim(), name);
  for (const value of sources.values) add('a service token', value);
  for (const [name, value] of Object.entries(sources.env)) {
    if (value !== undefined && secretName.test(name) && !namesSecret.test(name)) add(name, value);
  }
  for (const value of learned) add('a secret that was given out', value);
  for (const { file } of files) {
    for (const [name, value] of secretsInFile(file, sources)) add(name, value);
  }
  return found;
}
