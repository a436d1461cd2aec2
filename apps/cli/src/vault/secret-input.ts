import { StringDecoder } from 'node:string_decoder';
import { CliError } from '../cli-error.ts';

/** What secrets are typed into: a terminal or a pipe. */
export type SecretStream = NodeJS.ReadableStream & { isTTY?: boolean; setRawMode?: (on: boolean) => unknown };

const mostBytes = 1024 * 1024;

/**
 * Secrets from a person or a pipe, never from the command line, which everybody on the machine can read. At a terminal
 * nothing is shown of what is typed; a pipe gives one secret a line.
 */
export type SecretInput = {
  isTerminal: boolean;
  /** One secret on one line. */
  line(prompt: string): Promise<string>;
  /** A new one, which a person types twice. */
  newLine(prompt: string): Promise<string>;
  /** A pipe as a whole but its last line break, for values of several lines. */
  value(prompt: string): Promise<string>;
};

export function createSecretInput(stream: SecretStream = process.stdin, say: (text: string) => void = sayToError): SecretInput {
  let piped: Promise<string[]> | null = null;
  const nextLine = async (): Promise<string> => {
    piped ??= readAll(stream).then((text) => text.split(/\r?\n/));
    return (await piped).shift() ?? '';
  };
  const isTerminal = stream.isTTY === true;
  const line = (prompt: string): Promise<string> => (isTerminal ? typeHidden(stream, prompt, say) : nextLine());

  return {
    isTerminal,
    line,
    async newLine(prompt) {
      const text = await line(prompt);
      if (isTerminal && (await typeHidden(stream, 'Once more: ', say)) !== text) {
        throw new CliError('the two are not the same.', { why: 'Nothing was changed.' });
      }
      return text;
    },
    value: async (prompt) => (isTerminal ? typeHidden(stream, prompt, say) : (await readAll(stream)).replace(/\r?\n$/, '')),
  };
}

/** What was typed or piped in; `run` is the command that asks for it. @throws CliError when it is empty. */
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
    if (bytes > mostBytes) throw new CliError('what was piped in is too long for a secret.');
    parts.push(buffer);
  }
  return Buffer.concat(parts).toString('utf8');
}

function typeHidden(stream: SecretStream, prompt: string, say: (text: string) => void): Promise<string> {
  const decoder = new StringDecoder('utf8');
  const typed: string[] = [];
  say(prompt);
  stream.setRawMode?.(true);
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      stream.off('data', onData);
      stream.off('end', onEnd);
      stream.setRawMode?.(false);
      stream.pause();
      say('\n');
      settle();
    };
    const stopped = () => reject(new CliError('stopped.', { why: 'Nothing was changed.', exitCode: 130 }));
    const onEnd = () => end(stopped);
    const onData = (part: Buffer) => {
      for (const sign of decoder.write(part)) {
        if (sign === '\r' || sign === '\n') return end(() => resolve(typed.join('')));
        if (sign === '\u0003' || sign === '\u0004') return end(stopped);
        if (sign === '\u007F' || sign === '\b') typed.pop();
        else if (sign === '\u0015') typed.length = 0;
        else typed.push(sign);
      }
    };
    stream.on('data', onData);
    stream.on('end', onEnd);
    stream.resume();
  });
}
