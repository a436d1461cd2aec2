import { isUtf8 } from 'node:buffer';
import { StringDecoder } from 'node:string_decoder';
import { CliError, stoppedByPerson } from '../cli-error.ts';
import { createPasteSplitter } from '../editor/paste-splitter.ts';

/** The input of secrets: a terminal or a pipe. */
export type SecretStream = NodeJS.ReadableStream & { isTTY?: boolean; setRawMode?: (on: boolean) => unknown };

const mostBytes = 1024 * 1024;
const [pasteOn, pasteOff] = ['\u001B[?2004h', '\u001B[?2004l'];
/** Escape sequences of arrow keys and the like, which are not part of a secret. */
// eslint-disable-next-line no-control-regex
const keySequence = /\u001B(?:\[[0-?]*[ -/]*[@-~]|O.)?/gu;

/**
 * Reads secrets from a person or a pipe, never from the command line, which every user of the machine can read. A terminal
 * shows nothing of the input; a pipe has one secret a line. Secrets are never truncated: input that is not text, or has too many lines, is refused.
 */
export type SecretInput = {
  isTerminal: boolean;
  /** One secret on one line. */
  line(prompt: string): Promise<string>;
  /** A new secret, which a person types twice. */
  newLine(prompt: string): Promise<string>;
  /** The whole pipe or paste without its last line break, for values of several lines. */
  value(prompt: string): Promise<string>;
};

export function createSecretInput(stream: SecretStream = process.stdin, say: (text: string) => void = sayToError): SecretInput {
  let piped: Promise<string[]> | null = null;
  const nextLine = async (): Promise<string> => {
    piped ??= readAll(stream).then((text) => text.split(/\r?\n/));
    return (await piped).shift() ?? '';
  };
  const isTerminal = stream.isTTY === true;
  const line = (prompt: string): Promise<string> => (isTerminal ? typeHidden({ stream, prompt, say }) : nextLine());

  return {
    isTerminal,
    line,
    async newLine(prompt) {
      const text = await line(prompt);
      if (isTerminal && (await typeHidden({ stream, prompt: 'Once more: ', say })) !== text) {
        throw new CliError('the two entries do not match.', { why: 'Nothing was changed.' });
      }
      return text;
    },
    value: async (prompt) =>
      isTerminal ? typeHidden({ stream, prompt, say, takesLines: true }) : (await readAll(stream)).replace(/\r?\n$/, ''),
  };
}

/** The typed or piped value; `run` is the command that reads it. @throws CliError when it is empty */
export function given(text: string, what: string, run: string): string {
  if (text !== '') return text;
  throw new CliError(`no ${what} was given.`, { why: 'Type it when asked, or pipe it in.', run });
}

const sayToError = (text: string) => void process.stderr.write(text);

async function readAll(stream: SecretStream): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of stream) {
    const buffer = Buffer.from(part);
    bytes += buffer.length;
    if (bytes > mostBytes) throw new CliError('the piped input is too long for a secret.');
    parts.push(buffer);
  }
  const whole = Buffer.concat(parts);
  if (isUtf8(whole)) return whole.toString('utf8');
  throw new CliError('the piped input is not text (UTF-8).', {
    why: 'Nothing was changed. Pipe bytes in as text, for example by base64.',
  });
}

type Typing = { stream: SecretStream; prompt: string; say: (text: string) => void; takesLines?: boolean };

/** Ends with Enter, or with the line break at the end of a paste. */
function typeHidden({ stream, prompt, say, takesLines = false }: Typing): Promise<string> {
  const decoder = new StringDecoder('utf8');
  const splitter = createPasteSplitter();
  const typed: string[] = [];
  say(pasteOn + prompt);
  stream.setRawMode?.(true);
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      stream.off('data', onData);
      stream.off('end', onEnd);
      stream.setRawMode?.(false);
      stream.pause();
      say(`\n${pasteOff}`);
      settle();
    };
    const stopped = () => reject(stoppedByPerson());
    const tooMany = () =>
      reject(
        new CliError('the input has several lines.', {
          why: takesLines ? 'Nothing was changed. Pipe it in.' : 'Nothing was changed.',
        }),
      );
    const entered = () => resolve(typed.join(''));
    const onEnd = () => end(stopped);
    /** Returns the function that settles the promise, once the input is complete; null until then. */
    const press = (keys: string): (() => void) | null => {
      const signs = Array.from(keys.replaceAll(keySequence, ''));
      for (const [at, sign] of signs.entries()) {
        if (sign === '\r' || sign === '\n') return signs.slice(at).join('').trim() === '' ? entered : tooMany;
        if (sign === '\u0003' || sign === '\u0004') return stopped;
        if (sign === '\u007F' || sign === '\b') typed.pop();
        else if (sign === '\u0015') typed.length = 0;
        else typed.push(sign);
      }
      return null;
    };
    const paste = (text: string): (() => void) | null => {
      const lines = text.replaceAll(/\r\n?/g, '\n');
      const value = takesLines ? lines.replace(/\n$/, '') : lines.replaceAll(/^\n+|\n+$/g, '');
      if (!takesLines && value.includes('\n')) return tooMany;
      for (const sign of value) typed.push(sign);
      return lines.endsWith('\n') ? entered : null;
    };
    const onData = (part: Buffer) => {
      for (const { type, text } of splitter.push(decoder.write(part))) {
        const settle = type === 'paste' ? paste(text) : press(text);
        if (settle !== null) return end(settle);
      }
    };
    stream.on('data', onData);
    stream.on('end', onEnd);
    stream.resume();
  });
}
