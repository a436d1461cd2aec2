import { Transform } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { restoreCalls, type ToolNames } from './shim-tools.ts';

/** An event may contain a whole response; a longer line is not a valid event. */
const maxLineLength = 16 * 1024 * 1024;
const tooLong = 'an event of the model endpoint is too long';

/** Passes on an event stream line by line; only data lines with a function call are parsed and rewritten. */
export function createSseRewriter(names: ToolNames): Transform {
  const decoder = new StringDecoder('utf8');
  /** The parts of an incomplete line, which are joined once it is complete: a long line must not be copied with every chunk. */
  let parts: string[] = [];
  let length = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const text = decoder.write(chunk);
      parts.push(text);
      length += text.length;
      if (!text.includes('\n')) return done(length > maxLineLength ? new Error(tooLong) : null);
      const lines = parts.join('').split('\n');
      const rest = lines.pop() ?? '';
      parts = [rest];
      length = rest.length;
      done(null, lines.map((line) => `${rewriteLine(line, names)}\n`).join(''));
    },
    flush: (done) => done(null, parts.join('')),
  });
}

function rewriteLine(line: string, names: ToolNames): string {
  if (!line.startsWith('data:') || !line.includes('"function_call"')) return line;
  try {
    const event: unknown = JSON.parse(line.slice('data:'.length));
    restoreCalls(event, names);
    return `data: ${JSON.stringify(event)}`;
  } catch {
    return line; // not JSON: the client handles it
  }
}
