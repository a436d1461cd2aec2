import { expect, test } from 'vitest';
import { readEvents } from './sse-reader.ts';

async function* pieces(...texts: string[]): AsyncGenerator<string> {
  yield* texts;
}

test('yields each event once it is complete, however the text is split', async () => {
  const events = readEvents(
    pieces('event: delta\ndata: {"a"', ':1}\n', '\n: keep-alive\n\ndata: x\r\n\r\nid: 7\nda', 'ta: y\n\ndata: cut'),
  );
  const seen = [];
  for await (const event of events) seen.push(event);
  expect(seen).toEqual([
    { event: 'delta', data: '{"a":1}', id: undefined },
    { event: undefined, data: 'x', id: undefined },
    { event: undefined, data: 'y', id: '7' },
  ]);
});
