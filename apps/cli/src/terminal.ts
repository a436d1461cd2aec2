export type Look = 'bold' | 'dim' | 'italic' | 'underline' | 'strike' | 'red' | 'green' | 'yellow' | 'cyan';
/** Styles text, on a stream that can show it. */
export type Style = Readonly<Record<Look, (text: string) => string>>;

type Stream = { isTTY?: boolean };
type Env = Readonly<Record<string, string | undefined>>;

/** Plain text for pipes and files, and where colours are not wanted (`NO_COLOR`, a dumb terminal). */
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
 * Foreign text made safe for a terminal: characters that would move its cursor, control it or reverse the text direction
 * are escaped (`\\x1b`, `\\u202e`).
 */
export const visible = (text: string): string =>
  text.replaceAll(/[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu, (sign) => {
    if (sign === '\n' || sign === '\t') return sign;
    const code = sign.charCodeAt(0).toString(16);
    return sign === '\r' ? '' : code.length > 2 ? `\\u${code}` : `\\x${code.padStart(2, '0')}`;
  });

/** The same on one line: line breaks and invisible characters are shown as `?`. */
export const visibleLine = (text: string): string => visible(text.replaceAll(/[\n\t\r\p{Cf}]/gu, '?'));

/** The columns of a terminal, or a default when unknown. */
export const widthOf = ({ columns }: { columns?: number }): number => columns || usualWidth;
export const usualWidth = 80;

const leastWidth = 20;
const unbroken = /\S*"\.\/svc [^"\n]{1,60}"\S*|\S+/g;

/**
 * Wraps text between words into lines of at most `width` characters; a longer word gets its own line, and a quoted command
 * stays whole, so that it can be copied. Colours are not supported.
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

/** Our environment for programs that share our output: without colours where ours has none. */
export const environmentOfPrograms = (): NodeJS.ProcessEnv =>
  process.stdout.isTTY ? process.env : { NO_COLOR: '1', ...process.env };

/** A path quoted as one word for a shell. */
export const quoted = (file: string): string => (/^[\w.:/~-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`);
