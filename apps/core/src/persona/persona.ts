import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Clock } from '@svc/service-kit/clock.ts';
import { errorText, ServiceError } from '@svc/service-kit/service-error.ts';
import { builtInPersona } from './built-in-persona.ts';

/** `extended`: the built-in persona, then the operator's own text. */
export type PersonaSource = 'built-in' | 'extended' | 'replaced';

export type Persona = {
  /**
   * What every engine gets as its system prompt, before what a channel adds. `name`: the persona that an instance uses instead of the
   * default one.
   * @throws ServiceError `unprocessable` when no persona has this name.
   */
  text(name?: string): string;
  source(): PersonaSource;
  /** Whether a persona of this name exists. */
  has(name: string): boolean;
  /** Why the operator's file is not in use; null when it is valid. */
  fault(): string | null;
  /** Reads the files again now rather than within a second. */
  lookAgain(): void;
};

/** `folder`: the folder of named personas. */
type Deps = { file: string; folder: string; assistantName: string; clock: Pick<Clock, 'elapsed'> };

const recheckMs = 1000;
/** The limit is small because a model reads it in every conversation. */
export const maxPersonaBytes = 16 * 1024;
/** A file that begins with this line replaces the built-in persona. */
export const replacingLine = '<!-- replace -->';

/**
 * The assistant's persona: built in, extended or replaced by `persona.md` of the data folder, or by a file of `personas` for the instances
 * that name it. Files are checked for changes at most once per second.
 */
export function createPersona({ file, folder, assistantName, clock }: Deps): Persona {
  const builtIn = builtInPersona(assistantName);
  const usual = createPersonaFile({ file, builtIn, clock });
  const named = new Map<string, PersonaFile>();
  const find = (name: string): PersonaFile => {
    const known = named.get(name);
    if (known !== undefined) return known;
    const found = createPersonaFile({ file: path.join(folder, `${name}.md`), builtIn, clock });
    if (named.size >= maxNamed) named.clear();
    named.set(name, found);
    return found;
  };

  return {
    text(name) {
      if (name === undefined) return usual.read().text;
      const { text, source } = find(name).read();
      if (source === 'built-in') throw missing(name);
      return text;
    },
    source: () => usual.read().source,
    has: (name) => find(name).read().source !== 'built-in',
    fault: () => [usual, ...named.values()].map((each) => each.fault()).find((fault) => fault !== null) ?? null,
    lookAgain() {
      for (const each of [usual, ...named.values()]) each.lookAgain();
    },
  };
}

const maxNamed = 1000;

/** A fallback to another persona could reveal what the operator wants kept back. */
const missing = (name: string) =>
  new ServiceError(
    'unprocessable',
    `The persona "${name}" of this connector does not exist, so your message was not answered. The operator can create it.`,
  );

type PersonaFile = { read(): { text: string; source: PersonaSource }; fault(): string | null; lookAgain(): void };

/** One of the operator's files. A file that cannot be used leaves the previous text in force. */
function createPersonaFile({ file, builtIn, clock }: Pick<Deps, 'file' | 'clock'> & { builtIn: string }): PersonaFile {
  let current: { text: string; source: PersonaSource } = { text: builtIn, source: 'built-in' };
  let fault: string | null = null;
  let seen = '';
  let checkedAt = Number.NEGATIVE_INFINITY;

  const read = (): void => {
    checkedAt = clock.elapsed();
    try {
      const stat = statSync(file, { throwIfNoEntry: false });
      const stamp = stat === undefined ? 'none' : `${stat.ino}-${stat.mtimeMs}-${stat.size}`;
      if (stamp === seen) return;
      if (stat !== undefined && stat.size > maxPersonaBytes) throw new Error(`it is larger than ${maxPersonaBytes / 1024} KiB`);
      current = withOwn(builtIn, stat === undefined ? '' : readFileSync(file, 'utf8'));
      seen = stamp;
      fault = null;
    } catch (error) {
      fault = `${file} cannot be used (${errorText(error)}), so the previous persona stays in use. Edit it: ./svc persona edit`;
    }
  };
  const fresh = () => {
    if (clock.elapsed() - checkedAt >= recheckMs) read();
    return current;
  };

  return { read: fresh, fault: () => (fresh(), fault), lookAgain: read };
}

function withOwn(builtIn: string, content: string): { text: string; source: PersonaSource } {
  const own = content.toWellFormed().trim();
  if (own === '') return { text: builtIn, source: 'built-in' };
  if (!own.startsWith(replacingLine)) return { text: `${builtIn}\n\n${own}`, source: 'extended' };
  const replaced = own.slice(replacingLine.length).trim();
  return replaced === '' ? { text: builtIn, source: 'built-in' } : { text: replaced, source: 'replaced' };
}
