import { Transform } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { restoreCalls, type ToolNames } from './shim-tools.ts';

/** A reply event may hold a whole response; one that is longer than this is no event. */
const maxLineLength = 64 * 1024 * 1024;

/** Passes an event stream on line by line; only data lines that name a function call are parsed and written anew. */
export function createSseRewriter(names: ToolNames): Transform {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const lines = (rest + decoder.write(chunk)).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > maxLineLength) return done(new Error('an event of the model endpoint is too long'));
      done(null, lines.map((line) => `${rewriteLine(line, names)}\n`).join(''));
    },
    flush: (done) => done(null, rest),
  });
}

function rewriteLine(line: string, names: ToolNames): string {
  if (!line.startsWith('data:') || !line.includes('"function_call"')) return line;
  try {
    const event: unknown = JSON.parse(line.slice('data:'.length));
    restoreCalls(event, names);
    return `data: ${JSON.stringify(event)}`;
  } catch {
    return line; // not JSON: the client decides what it thinks of it
  }
}
