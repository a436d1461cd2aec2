import { readFileSync, statSync } from 'node:fs';
import type { Clock } from '@svc/service-kit/clock.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { builtInPersona } from './built-in-persona.ts';

/** `extended`: the built-in persona, then the operator's own words. */
export type PersonaSource = 'built-in' | 'extended' | 'replaced';

export type Persona = {
  /** What every engine gets as its system prompt, ahead of what a channel asks for. */
  text(): string;
  source(): PersonaSource;
  /** Why the operator's file is not used as it is; null when all is well. */
  fault(): string | null;
};

type Deps = { file: string; assistantName: string; clock: Pick<Clock, 'elapsed'> };

const recheckMs = 1000;
/** A model reads it in every conversation. */
const maxBytes = 16 * 1024;
/** A file that begins with this line stands in place of the built-in persona. */
export const replacingLine = '<!-- replace -->';

/**
 * The assistant's persona: built in, extended or replaced by `persona.md` of the data folder, which is looked at again at
 * most once a second. A file that cannot be used leaves what was in force before.
 */
export function createPersona({ file, assistantName, clock }: Deps): Persona {
  const builtIn = builtInPersona(assistantName);
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
      if (stat !== undefined && stat.size > maxBytes) throw new Error(`it has more than ${maxBytes / 1024} KiB`);
      current = withOwn(builtIn, stat === undefined ? '' : readFileSync(file, 'utf8'));
      seen = stamp;
      fault = null;
    } catch (error) {
      fault = `${file} cannot be used (${errorText(error)}), so the persona is the one from before. Edit it: ./svc persona edit`;
    }
  };
  const fresh = () => {
    if (clock.elapsed() - checkedAt >= recheckMs) read();
    return current;
  };

  return {
    text: () => fresh().text,
    source: () => fresh().source,
    fault: () => (fresh(), fault),
  };
}

function withOwn(builtIn: string, content: string): { text: string; source: PersonaSource } {
  const own = content.toWellFormed().trim();
  if (own === '') return { text: builtIn, source: 'built-in' };
  if (!own.startsWith(replacingLine)) return { text: `${builtIn}\n\n${own}`, source: 'extended' };
  const replaced = own.slice(replacingLine.length).trim();
  return replaced === '' ? { text: builtIn, source: 'built-in' } : { text: replaced, source: 'replaced' };
}
