import { readFileSync } from 'node:fs';
import { compileLinear } from '@svc/service-kit/linear-pattern.ts';

/** Texts and patterns that the operator denies. `matches` takes a few milliseconds for a text of 100,000 characters. */
export type DenyRules = { isEmpty: boolean; matches(text: string): boolean };

export const noDenyRules: DenyRules = { isEmpty: true, matches: () => false };

const maxLines = 200;
const maxLineChars = 500;

/**
 * One rule a line: a text, found wherever it stands whatever its case, or `/pattern/`. Lines that begin with `#` say
 * something to the reader.
 * @throws Error that names the line.
 */
export function parseDenyRules(text: string): DenyRules {
  const lines = text.split('\n').map((line, index) => ({ line: line.trim(), number: index + 1 }));
  const rules = lines.filter(({ line }) => line !== '' && !line.startsWith('#'));
  if (rules.length > maxLines) throw new Error(`it has ${rules.length} rules, and may have ${maxLines}`);
  const long = rules.find(({ line }) => line.length > maxLineChars);
  if (long !== undefined) throw new Error(`line ${long.number} is longer than ${maxLineChars} characters`);
  const isPattern = ({ line }: { line: string }) => line.length > 2 && line.startsWith('/') && line.endsWith('/');
  const texts = rules.filter((rule) => !isPattern(rule)).map(({ line }) => plain(line));
  const patterns = rules.filter(isPattern).map(({ line }) => line.slice(1, -1));
  const any = compileLinear(patterns);
  return {
    isEmpty: rules.length === 0,
    matches(message) {
      if (swells(message)) return true;
      const looked = plain(message);
      return texts.some((denied) => looked.includes(denied)) || any.isIn(looked);
    },
  };
}

/** Written plainly, some signs are a whole sentence. A text of them could be looked through, but only for others to wait for it. */
const swells = (text: string): boolean => text.normalize('NFKC').length > 2 * text.length + 1000;

/** As a reader sees it: without case, signs that are not seen, other forms of a letter, and breaks between words. */
const plain = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/\s+/gu, ' ');

/** The rules of a file. One that need not be there and is not has none. @throws Error that names the file. */
export function readDenyRules({ path, isNeeded }: { path: string; isNeeded: boolean }): DenyRules {
  try {
    return parseDenyRules(readFileSync(path, 'utf8'));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && !isNeeded) return noDenyRules;
    throw new Error(`${path} cannot be used: ${code === 'ENOENT' ? 'there is no such file' : message}`, { cause: error });
  }
}
