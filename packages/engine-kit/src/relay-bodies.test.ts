import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { NoRoomForBody, readBody } from '@svc/service-kit/http/read-body.ts';
import { ByteBudget } from '@svc/service-kit/intake/byte-budget.ts';
import { leaseForRequest } from './relay-bodies.ts';

const bodyOf = (bytes: number) => Readable.from(Array.from({ length: bytes / 100 }, () => Buffer.alloc(100)));

test('bounds the memory of all requests to a relay, and frees it when a request ends', async () => {
  const budget = new ByteBudget(1000);
  const [one, two, three] = [new EventEmitter(), new EventEmitter(), new EventEmitter()];
  const lease = (response: EventEmitter) => leaseForRequest(response as never, budget);
  expect((await readBody(bodyOf(700), 5000, lease(one))).length).toBe(700);
  await expect(readBody(bodyOf(400), 5000, lease(two))).rejects.toThrow(NoRoomForBody);
  two.emit('close');
  expect(budget.held).toBe(700);
  one.emit('close');
  expect((await readBody(bodyOf(400), 5000, lease(three))).length).toBe(400);
  three.emit('close');
  expect(budget.held).toBe(0);
});
