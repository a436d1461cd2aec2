/**
 * Describes the pattern of a schema, so that people need not read a regular expression. Patterns with a class for the first
 * character and one for the others, as nearly all are, are described in full; for any other only that the format is wrong.
 */
export function describePattern(pattern: string): string {
  if (pattern === '\\S') return 'is empty';
  const parts = partsOf(pattern);
  if (parts === null) return otherForm;
  const [first, rest] = parts;
  if (first === undefined) return otherForm;
  if (first.isNegated || rest?.isNegated === true) return parts.length === 1 ? `must not have ${first.signs}` : otherForm;
  if (rest === undefined) return `takes ${countOf(first)}${first.signs}`;
  if (first.most !== 1) return otherForm;
  const most = rest.most === null ? '' : `up to ${rest.most + 1} of `;
  return `takes ${most}${rest.signs}${rest.signs === first.signs ? '' : `, beginning with ${first.signs}`}`;
}

const otherForm = 'does not have the expected format';

/** The characters of a class as text, and how many there may be; `most` null: any number. */
type Part = { signs: string; isNegated: boolean; least: number; most: number | null };

const part = /(?:\[(\^?)((?:\\.|[^\]\\])+)\]|\\([wd]))(\{\d+(?:,\d*)?\}|[+*?])?/y;

/** At most two parts; null for anything else. */
function partsOf(pattern: string): Part[] | null {
  if (!pattern.startsWith('^') || !pattern.endsWith('$')) return null;
  const body = pattern.slice(1, -1);
  const parts: Part[] = [];
  for (part.lastIndex = 0; part.lastIndex < body.length;) {
    const found = part.exec(body);
    if (found === null || parts.length === 2) return null;
    const [, negation = '', listed, named, quantifier] = found;
    parts.push({ signs: signsOf(listed ?? `\\${named}`, negation !== ''), isNegated: negation !== '', ...boundsOf(quantifier) });
  }
  return parts;
}

function boundsOf(quantifier = '{1}'): Pick<Part, 'least' | 'most'> {
  if (quantifier === '+') return { least: 1, most: null };
  if (quantifier === '*') return { least: 0, most: null };
  if (quantifier === '?') return { least: 0, most: 1 };
  const [least = '', most = least] = quantifier.slice(1, -1).split(',');
  return { least: Number(least), most: most === '' ? null : Number(most) };
}

function countOf({ least, most }: Part): string {
  if (most === null) return '';
  return least === most ? `${most} of ` : `up to ${most} of `;
}

const classes: Readonly<Record<string, readonly string[]>> = {
  '\\w': ['A-Z', 'a-z', '0-9', '"_"'],
  '\\d': ['0-9'],
  '\\p{Cc}': ['control characters'],
  '\\u007f': ['control characters'],
  '\\u2028': ['line breaks'],
  '\\u2029': ['line breaks'],
};

function signsOf(text: string, isNegated: boolean): string {
  const signs = text.match(/\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|\\p\{\w+\}|\\?./gi) ?? [];
  const named: string[] = [];
  for (let at = 0; at < signs.length; at++) {
    const sign = signs[at] ?? '';
    const to = signs[at + 1] === '-' ? signs[at + 2] : undefined;
    if (to !== undefined) {
      named.push(rangeOf(sign, to));
      at += 2;
    } else named.push(...(classes[sign] ?? [`"${plain(sign)}"`]));
  }
  const unique = [...new Set(named)];
  const last = unique.length > 1 ? unique.pop() : undefined;
  return last === undefined ? unique.join('') : `${unique.join(', ')} ${isNegated ? 'or' : 'and'} ${last}`;
}

function rangeOf(from: string, to: string): string {
  if (plain(from) === '\u0000') return 'control characters';
  return plain(from) === '!' && plain(to) === '~' ? 'printable ASCII characters' : `${plain(from)}-${plain(to)}`;
}

function plain(sign: string): string {
  const code = /^\\[ux]([0-9a-f]+)$/i.exec(sign)?.[1];
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
  return sign.length > 1 ? sign.slice(1) : sign;
}
