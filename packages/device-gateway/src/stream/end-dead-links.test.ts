import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { expect, test } from 'vitest';
import type { DeviceRecord } from '../device/device-record.ts';
import { endDeadLinks } from './end-dead-links.ts';
import { createOpenLinks } from './open-links.ts';

function open(localDevice: string | null = null) {
  const clock = createFakeClock();
  const tokens = new Map<string, string | null>();
  const ended: string[] = [];
  const links = createOpenLinks();
  const stop = endDeadLinks({
    clock,
    localDevice,
    devices: { find: (id) => (tokens.has(id) ? ({ device_id: id, token_sha256: tokens.get(id) } as DeviceRecord) : null) },
    links,
  });
  /** A device opens a stream with its present token. */
  const add = (id: string) => {
    const left = new AbortController();
    const close = () => {
      ended.push(id);
      left.abort();
    };
    const stream = { send: () => undefined, close, signal: left.signal };
    links.add(id, { kind: 'stream', stream, token: tokens.get(id) ?? null, conversation: null });
  };
  return { clock, tokens, add, open: () => links.devices().toSorted(), ended, stop };
}

test('ends a stream within seconds when its device is removed or its token changes', () => {
  const { clock, tokens, add, open: links, ended } = open();
  for (const id of ['stays', 'removed', 'changed', 'emptied']) {
    tokens.set(id, 'a');
    add(id);
  }
  clock.advance(10_000);
  expect(ended).toEqual([]);
  tokens.delete('removed');
  tokens.set('changed', 'b');
  tokens.set('emptied', null);
  clock.advance(2_000);
  expect(ended.toSorted()).toEqual(['changed', 'emptied', 'removed']);
  add('changed'); // comes back with the new token
  clock.advance(10_000);
  expect(links()).toEqual(['changed', 'stays']);
});

test('ends a stream whose token changes right after it was opened, and not one with the new token', () => {
  const { clock, tokens, add, ended, open: links } = open();
  tokens.set('phone', 'a');
  add('phone');
  tokens.set('phone', 'b');
  add('phone');
  clock.advance(2_000);
  expect([ended, links()]).toEqual([['phone'], ['phone']]);
  clock.advance(10_000);
  expect(ended).toEqual(['phone']);
});

test('keeps the stream of the local device, and checks nothing after stop()', () => {
  const { clock, add, ended, stop } = open('local');
  add('local');
  clock.advance(10_000);
  expect(ended).toEqual([]);
  stop();
  add('unknown');
  clock.advance(10_000);
  expect(ended).toEqual([]);
});
