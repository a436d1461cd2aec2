import type { Clock } from '../clock.ts';
import { ServiceError } from '../service-error.ts';
import { loadDetection } from './detection.ts';
import { createGrowingMatcher } from './growing-matcher.ts';
import { textInSlices } from './in-slices.ts';
import { createMaskThread } from './mask-thread.ts';
import { createOffloads } from './offload.ts';
import { createOutboundMask, type OutboundMask } from './outbound-mask.ts';
import { redactorOf, type Redactor } from './redactor.ts';
import { secretName, secretParts } from './secret-parts.ts';
import { minimumSecretLength } from './secret-patterns.ts';
import { secretFiles, secretsInFile, unreadable, type FileStamp } from './secrets-in-files.ts';

export type SecretSources = {
  /** Values that are secrets by themselves: service tokens. */
  values: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  secretsFile: string;
  /** Folder of connector instances; each may have a `keys.json`. */
  instancesDir: string;
  /** Where links for the public may lead; anywhere when there are none. */
  linkHosts?: readonly string[];
};

/** Settings that say what a secret is called: errors have to name it. */
const namesSecret = /^SVC_\w+_KEY_SECRET$/;
const refreshMs = 1000;
const lineRefreshMs = 60_000;
/** What was a secret is masked this long after it was replaced: it may be valid still, and is said still. */
const retiredMs = 24 * 60 * 60 * 1000;

/** The secrets that a process knows at the moment. */
export interface KnownSecrets {
  /** @throws when a secrets or keys file is there but cannot be read: redaction failing means nothing is sent. */
  redactor(): Redactor;
  /** More values that must not leave, resolved by a part of the process. They hold from the next `redactor()` on. */
  learn(values: Iterable<string>): void;
  /**
   * A line of the log without secrets. The files are looked at once a minute, where no reply does that. When they cannot
   * be read, what was known before and is learned since is masked: the log must be able to say why nothing else leaves.
   */
  line(line: string): string;
  /**
   * The mask of every sink, with what is known at the moment. While the list cannot be read, what was known before and is
   * learned since is masked: an answer such as `/health` has to leave even then. Replies ask for `redactor()`, which throws.
   */
  readonly mask: OutboundMask;
  /** Why the list cannot be read; null while it can. */
  fault(): string | null;
  /** Why long texts cost the main thread their time; null while they do not. */
  threadFault(): string | null;
  close(): Promise<void>;
}

/**
 * Every secret value this installation knows, as a redactor. Files are looked at again at most once a second, when a
 * turn asks, so a key that was just made is masked in the next turn. A file that cannot be read is a fault: without
 * the list nothing may leave, and the files are looked at again each time.
 */
export function createKnownSecrets(sources: SecretSources, clock: Clock, warn: (message: string) => void): KnownSecrets {
  let stamps: string | null = null;
  let checkedAt = Number.NEGATIVE_INFINITY;
  let edition = Symbol('edition');
  const growing = createGrowingMatcher(() => useMatchers(), warn);
  const { linkHosts = [] } = sources;
  const thread = createMaskThread(clock);
  const offloads = createOffloads(thread, () => {
    currentRedactor();
    return { edition, values: masked, linkHosts };
  });
  const newRedactor = () => redactorOf(growing.matchers(), { edition, linkHosts, offloads });
  const useMatchers = () => (redactor = newRedactor());
  let redactor = newRedactor();
  let fault: string | null = null;
  /** Set with the first reply: a process that masks none needs no rules in its memory. */
  let hasRules = false;
  const learned = new Set<string>();
  let current: ReadonlySet<string> = new Set();
  /** All that is masked. */
  let masked: ReadonlySet<string> = new Set();
  /** Values that are secrets no more, and until when they are masked. */
  const retired = new Map<string, number>();

  const maskAll = (values: Iterable<string>) => {
    const all = new Set([...values].flatMap((value) => [value, ...secretParts(value)]).flatMap(withRounded));
    if (!growing.set(all)) return;
    masked = all;
    edition = Symbol('edition');
    useMatchers();
  };

  const retire = (next: ReadonlySet<string>) => {
    const now = clock.elapsed();
    for (const value of current) retired.set(value, now + retiredMs);
    for (const [value, until] of retired) if (until <= now || next.has(value)) retired.delete(value);
    current = next;
  };

  const rebuild = (files: FileStamp[]) => {
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
    for (const [value, name] of found) {
      if (value !== '' && value.length < minimumSecretLength) warn(`The value of ${name} is too short to be masked in replies.`);
    }
    retire(new Set(found.keys()));
    maskAll([...found.keys(), ...retired.keys()]);
  };

  /** What was learned since, to all that was known. */
  const addLearned = () => {
    const added = [...learned].map((value) => value.trim()).filter((value) => !current.has(value));
    if (added.length === 0) return;
    current = new Set([...current, ...added]);
    maskAll([...current, ...retired.keys()]);
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
      // For the log, which goes on.
      if (current.size === 0) rebuild([]);
      else addLearned();
      fault = `No reply can leave: ${unreadable(error)}, so secrets could not be masked. Correct that; the next reply then leaves.`;
    }
  };

  /** With what was known before while the list cannot be read. */
  const currentRedactor = (): Redactor => {
    if (isDue(refreshMs)) refresh(hasRules);
    return redactor;
  };

  return {
    redactor() {
      hasRules = true;
      // A fault says that the next reply leaves once it is corrected.
      if (fault !== null || isDue(refreshMs)) refresh(true);
      if (fault !== null) throw new ServiceError('internal', fault, { details: { cause: 'mask' } });
      return redactor;
    },

    learn(values) {
      const before = learned.size;
      for (const value of values) learned.add(value);
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

/** A secret of more digits than a number can hold is rounded where it was read as one: most of it stands there still. */
const withRounded = (value: string): string[] => (/^\d{16,}$/.test(value) ? [value, String(Number(value))] : [value]);
