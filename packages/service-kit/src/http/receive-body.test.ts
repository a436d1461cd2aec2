import { Readable } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import { JsonShape } from '../json-shape.ts';
import { receiveBody } from './receive-body.ts';

const newPart = () => Buffer.alloc(64 * 1024, '"x",');

test('yields to the event loop while a body arrives faster than it is processed', async () => {
  let turns = 0;
  let timer = setImmediate(function count() {
    turns++;
    timer = setImmediate(count);
  });
  onTestFinished(() => clearImmediate(timer));
  const parts = Array.from({ length: 10 }, newPart);
  const busy = {
    add() {
      const until = performance.now() + 5;
      while (performance.now() < until);
      return null;
    },
  };
  const stream = new Readable({ read() {} });
  for (const each of [...parts, null]) stream.push(each);
  await receiveBody(stream, busy, new JsonShape());
  expect(turns).toBeGreaterThanOrEqual(3);
});

test('frees the memory of a large part as soon as it is stored', async () => {
  const parts = [newPart(), newPart(), Buffer.from('"x"')];
  const { promise: landed, resolve: land } = Promise.withResolvers<void>();
  const kept: string[] = [];
  const body = {
    add(part: Buffer) {
      kept.push(part.toString());
      return part === parts[1] ? landed : null;
    },
  };
  const lengths = () => parts.map(({ length }) => length);
  const stream = new Readable({ read() {} });
  for (const each of [...parts, null]) stream.push(each);
  const received = receiveBody(stream, body, new JsonShape());
  await vi.waitFor(() => expect(lengths()).toEqual([0, 64 * 1024, 3]));
  land();
  await received;
  expect(lengths()).toEqual([0, 0, 3]);
  expect(kept.map(({ length }) => length)).toEqual([64 * 1024, 64 * 1024, 3]);
});
