import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { JsonShape } from '../json-shape.ts';
import { receiveBody } from './receive-body.ts';

test('others have their turn while a body comes faster than it is looked at', async () => {
  let turns = 0;
  let timer = setImmediate(function count() {
    turns++;
    timer = setImmediate(count);
  });
  onTestFinished(() => clearImmediate(timer));
  const part = Buffer.alloc(64 * 1024, '"x",');
  const parts = Array.from({ length: 10 }, () => part);
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
