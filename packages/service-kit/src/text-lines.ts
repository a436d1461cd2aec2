import { StringDecoder } from 'node:string_decoder';

/**
 * The lines of a file with one JSON value per line, without their line breaks; the last one may be incomplete. Only `\n` ends a line:
 * `node:readline` also splits at U+2028 and U+2029, which JSON texts may contain.
 */
export async function* textLines(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let parts: string[] = [];
  for await (const chunk of bytes) {
    const [rest = '', ...lines] = decoder.write(chunk).split('\n');
    parts.push(rest);
    for (const next of lines) {
      yield parts.join('');
      parts = [next];
    }
  }
  const last = parts.join('') + decoder.end();
  if (last !== '') yield last;
}
