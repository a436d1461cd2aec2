import { expect, test } from 'vitest';
import { createThoughtReader } from './thought-reader.ts';

const event = (parts: object[], more: object = {}) =>
  `data: ${JSON.stringify({ candidates: [{ content: { parts }, ...more }] })}\r\n\r\n`;

function read(text: string) {
  const thoughts: string[] = [];
  const reader = createThoughtReader((thought) => thoughts.push(thought));
  // Byte by byte, since a network may cut anywhere.
  for (const byte of Buffer.from(text)) reader.push(Buffer.from([byte]));
  return { thoughts, finished: reader.finished };
}

test('reads thoughts, but not the reply', () => {
  const stream =
    event([{ text: 'hm ä', thought: true }]) + event([{ text: '"thought": true' }]) + event([{ text: 'b', thought: true }]);
  expect(read(stream)).toEqual({ thoughts: ['hm ä', 'b'], finished: false });
});

test('a stream is finished once it has a finish reason', () => {
  expect(read(event([{ text: 'x' }], { finishReason: 'STOP' })).finished).toBe(true);
});

test('ignores lines that are not JSON', () => {
  expect(read('data: "thought": true\n\n: comment\n').thoughts).toEqual([]);
});
