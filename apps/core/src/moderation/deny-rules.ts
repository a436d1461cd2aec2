import { readFileSync } from 'node:fs';
import type { Steps } from '@svc/service-kit/redaction/pace.ts';
import { compileLinear } from '@svc/service-kit/linear-pattern.ts';

/** Texts and patterns that the operator denies. Each step of `matches` takes a few milliseconds for a text of 100,000 characters. */
export type DenyRules = { isEmpty: boolean; matches(text: string): Steps<boolean> };

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
  const texts = rules.filter((rule) => !isPattern(rule)).map(({ line }) => plain(line.normalize('NFKC')));
  const patterns = rules.filter(isPattern).map(({ line }) => line.slice(1, -1));
  const any = compileLinear(patterns);
  return {
    isEmpty: rules.length === 0,
    *matches(message) {
      const normal = message.normalize('NFKC');
      if (normal.length > 2 * message.length + 1000) return true; // see `plain`
      yield;
      const looked = plain(normal);
      yield;
      return texts.some((denied) => looked.includes(denied)) || any.isIn(looked);
    },
  };
}

/**
 * As a reader sees it: without case, signs that are not seen, other forms of a letter (NFKC), and breaks between words. Some signs are
 * a whole sentence then. A text of them could be looked through, but only for others to wait for it.
 */
const plain = (normal: string): string =>
  normal
    .toLowerCase()
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/\s+/gu, ' ');

export const noDenyRules: DenyRules = parseDenyRules('');

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
