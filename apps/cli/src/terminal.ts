export type Look = 'bold' | 'dim' | 'italic' | 'underline' | 'strike' | 'red' | 'green' | 'yellow' | 'cyan';
/** Words with a look, on a stream that can show it. */
export type Style = Readonly<Record<Look, (text: string) => string>>;

type Stream = { isTTY?: boolean };
type Env = Readonly<Record<string, string | undefined>>;

/** Plain text where nobody looks (a pipe, a file) or where colours are not wanted (`NO_COLOR`, a dumb terminal). */
export function createStyle(stream: Stream, env: Env = process.env): Style {
  const hasColours = stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  return hasColours ? coloured : plain;
}

/** True where a program may move the cursor: a terminal that is not a dumb one. */
export const canDraw = (stream: Stream): boolean => stream.isTTY === true && process.env['TERM'] !== 'dumb';

const paint = (on: number, off: number) => (text: string) => (text === '' ? '' : `\u001B[${on}m${text}\u001B[${off}m`);
const asIs = (text: string) => text;

const coloured: Style = {
  bold: paint(1, 22),
  dim: paint(2, 22),
  italic: paint(3, 23),
  underline: paint(4, 24),
  strike: paint(9, 29),
  red: paint(31, 39),
  green: paint(32, 39),
  yellow: paint(33, 39),
  cyan: paint(36, 39),
};
export const plain: Style = {
  bold: asIs,
  dim: asIs,
  italic: asIs,
  underline: asIs,
  strike: asIs,
  red: asIs,
  green: asIs,
  yellow: asIs,
  cyan: asIs,
};

/**
 * Text of others as a terminal may show it: what would move its cursor, command it or turn the order of signs around
 * is written out (`\\x1b`, `\\u202e`).
 */
export const visible = (text: string): string =>
  text.replaceAll(/[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu, (sign) => {
    if (sign === '\n' || sign === '\t') return sign;
    const code = sign.charCodeAt(0).toString(16);
    return sign === '\r' ? '' : code.length > 2 ? `\\u${code}` : `\\x${code.padStart(2, '0')}`;
  });

/** The same on one line: breaks, and signs that cannot be seen, are shown as `?`. */
export const visibleLine = (text: string): string => visible(text.replaceAll(/[\n\t\r\p{Cf}]/gu, '?'));

/** Columns of a terminal, or the usual number where it is not known. */
export const widthOf = ({ columns }: { columns?: number }): number => columns || usualWidth;
export const usualWidth = 80;

const leastWidth = 20;
const unbroken = /\S*"\.\/svc [^"\n]{1,60}"\S*|\S+/g;

/**
 * Text broken between words into lines of at most `width` signs; a longer word has a line of its own, and a quoted command
 * of ours stays whole: it is copied. Takes no colours.
 */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.match(unbroken) ?? []) {
    if (line !== '' && line.length + 1 + word.length > Math.max(leastWidth, width)) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

export const print = (text: string): void => void process.stdout.write(`${text}\n`);
export const printError = (text: string): void => void process.stderr.write(`${text}\n`);

/** Our environment for programs whose output goes where ours goes: without colours where ours has none. */
export const environmentOfPrograms = (): NodeJS.ProcessEnv =>
  process.stdout.isTTY ? process.env : { NO_COLOR: '1', ...process.env };

/** A file as a shell reads it in one word. */
export const quoted = (file: string): string => (/^[\w.:/~-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`);
