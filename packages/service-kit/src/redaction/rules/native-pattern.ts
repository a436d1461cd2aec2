type Reader = { pattern: string; at: number; ignoresCase: boolean };

const flags = /\(\?(?<off>-?)i(?<end>[:)])/y;
const groupStart = /\((?:\?(?::|P<\w+>))?/y;
const escape = /\\(?:x[\da-f]{2}|[^])/iy;
const range = /(?<from>[a-zA-Z])-(?<to>[a-zA-Z])/y;

/**
 * Translates an expression from RE2's syntax, as far as detection rules use it, to this engine's. Letters that match in both
 * cases are written out, because the engine's own flags for part of an expression miss matches.
 */
export function toNativePattern(pattern: string): string {
  const reader: Reader = { pattern, at: 0, ignoresCase: false };
  /** Whether case mattered outside of each open group. */
  const outside: boolean[] = [];
  let out = '';
  while (reader.at < pattern.length) {
    const flag = take(reader, flags);
    if (flag !== null) {
      if (flag.groups?.['end'] === ':') {
        outside.push(reader.ignoresCase);
        out += '(?:';
      }
      reader.ignoresCase = flag.groups?.['off'] === '';
    } else out += atom(reader, outside);
  }
  return out;
}

function atom(reader: Reader, outside: boolean[]): string {
  const group = take(reader, groupStart);
  if (group !== null) {
    outside.push(reader.ignoresCase);
    return group[0].replace('?P<', '?<');
  }
  const escaped = take(reader, escape);
  if (escaped !== null) return escaped[0] === '\\z' ? '(?![^])' : escaped[0] === '\\s' ? String.raw`[\t\n\f\r ]` : escaped[0];
  const char = next(reader);
  if (char === '[') return charClass(reader);
  if (char === ')') reader.ignoresCase = outside.pop() ?? false;
  const both = reader.ignoresCase ? bothCases(char) : char;
  return both === char ? char : `[${both}]`;
}

function charClass(reader: Reader): string {
  let out = '[';
  while (!out.endsWith(']') || out.endsWith('\\]')) {
    const escaped = take(reader, escape);
    const letters = escaped === null ? take(reader, range) : null;
    if (escaped !== null) out += escaped[0] === '\\s' ? String.raw`\t\n\f\r ` : escaped[0];
    else if (letters !== null) out += reader.ignoresCase ? bothCases(letters[0]) : letters[0];
    else if (reader.pattern.startsWith('[:alnum:]', reader.at)) {
      out += 'A-Za-z0-9';
      reader.at += '[:alnum:]'.length;
    } else out += reader.ignoresCase ? bothCases(next(reader)) : next(reader);
  }
  return out;
}

const bothCases = (text: string): string =>
  text.toLowerCase() === text.toUpperCase() ? text : text.toLowerCase() + text.toUpperCase();

const next = (reader: Reader): string => reader.pattern[reader.at++] ?? ']';

function take(reader: Reader, form: RegExp): RegExpExecArray | null {
  form.lastIndex = reader.at;
  const found = form.exec(reader.pattern);
  reader.at += found?.[0].length ?? 0;
  return found;
}
