import { readFileSync } from 'node:fs';
import { counted } from '@svc/service-kit/words.ts';
import { atOnce, type Steps } from '@svc/service-kit/redaction/pace.ts';
import { compileLinear } from '@svc/service-kit/linear-pattern.ts';

/** Texts and patterns that the operator denies. Each step of `matches` takes a few milliseconds for a text of 100,000 characters. */
export type DenyRules = { isEmpty: boolean; matches(text: string): Steps<boolean> };

const maxLines = 200;
const maxLineChars = 500;

/**
 * One rule per line: a text, matched anywhere and in any case, or `/pattern/`. Lines that begin with `#` are comments.
 * @throws Error that names the line.
 */
export function parseDenyRules(text: string): DenyRules {
  const lines = text.split('\n').map((line, index) => ({ line: line.trim(), number: index + 1 }));
  const rules = lines.filter(({ line }) => line !== '' && !line.startsWith('#'));
  if (rules.length > maxLines) throw new Error(`it has ${counted(rules.length, 'rule')}, and may have ${maxLines}`);
  const long = rules.find(({ line }) => line.length > maxLineChars);
  if (long !== undefined) throw new Error(`line ${long.number} is longer than ${maxLineChars} characters`);
  const isPattern = ({ line }: { line: string }) => line.length > 2 && line.startsWith('/') && line.endsWith('/');
  const texts = rules.filter((rule) => !isPattern(rule)).map(({ line }) => atOnce(plain(line)));
  const patterns = rules.filter(isPattern).map(({ line }) => line.slice(1, -1));
  const any = compileLinear(patterns);
  return {
    isEmpty: rules.length === 0,
    *matches(message) {
      if (yield* swells(message)) return true;
      const looked = yield* plain(message);
      yield;
      return texts.some((denied) => looked.includes(denied)) || any.isIn(looked);
    },
  };
}

const pieceLength = 16_384;

/** Whether a text grows too much when it is normalized: some characters expand to a whole sentence, and the search would delay others. */
function* swells(text: string): Steps<boolean> {
  let length = 0;
  for (let at = 0; at < text.length; at += pieceLength) {
    length += text.slice(at, at + pieceLength).normalize('NFKC').length;
    if (length > 2 * text.length + 1000) return true;
    yield;
  }
  return false;
}

/** The text as a reader sees it: one form and case for each letter, without invisible characters, and with plain spaces. */
function* plain(text: string): Steps<string> {
  const normal = text.normalize('NFKC');
  yield;
  const small = normal.toLowerCase();
  yield;
  // Letters that look like spaces.
  const spaced = small.replaceAll(/[\u115F\u1160\u2800]/gu, ' ');
  yield;
  const seen = spaced.replaceAll(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '');
  yield;
  return seen.replaceAll(/\s+/gu, ' ');
}

export const noDenyRules: DenyRules = parseDenyRules('');

/** The rules of a file. A missing optional file has none. @throws Error that names the file. */
export function readDenyRules({ path, isNeeded }: { path: string; isNeeded: boolean }): DenyRules {
  try {
    return parseDenyRules(readFileSync(path, 'utf8'));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && !isNeeded) return noDenyRules;
    throw new Error(`${path} cannot be used: ${code === 'ENOENT' ? 'there is no such file' : message}`, { cause: error });
  }
}
