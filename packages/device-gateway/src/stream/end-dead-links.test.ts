import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { expect, test } from 'vitest';
import type { DeviceRecord } from '../device/device-record.ts';
import { endDeadLinks } from './end-dead-links.ts';

function open(localDevice: string | null = null) {
  const clock = createFakeClock();
  const tokens = new Map<string, string | null>();
  const open = new Set<string>();
  const ended: string[] = [];
  const stop = endDeadLinks({
    clock,
    localDevice,
    devices: { find: (id) => (tokens.has(id) ? ({ device_id: id, token_sha256: tokens.get(id) } as DeviceRecord) : null) },
    links: {
      devices: () => [...open],
      end(id) {
        open.delete(id);
        ended.push(id);
      },
    },
  });
  return { clock, tokens, open, ended, stop };
}

test('ends a stream within seconds when its device is removed or its token changes', () => {
  const { clock, tokens, open: links, ended } = open();
  for (const id of ['stays', 'removed', 'changed', 'emptied']) {
    tokens.set(id, 'a');
    links.add(id);
  }
  clock.advance(10_000);
  expect(ended).toEqual([]);
  tokens.delete('removed');
  tokens.set('changed', 'b');
  tokens.set('emptied', null);
  clock.advance(2_000);
  expect(ended.toSorted()).toEqual(['changed', 'emptied', 'removed']);
  links.add('changed'); // comes back with the new token
  clock.advance(10_000);
  expect([...links].toSorted()).toEqual(['changed', 'stays']);
});

test('keeps the stream of the local device, and checks nothing after stop()', () => {
  const { clock, open: links, ended, stop } = open('local');
  links.add('local');
  clock.advance(10_000);
  expect(ended).toEqual([]);
  stop();
  links.add('unknown');
  clock.advance(10_000);
  expect(ended).toEqual([]);
});
