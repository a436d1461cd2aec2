import { expect, test } from 'vitest';
import type { VaultState } from '@svc/contract/vault.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createVaultGate } from './vault-gate.ts';

function openGate() {
  let watchers = 0;
  let hear: (state: VaultState | null) => void = () => undefined;
  const clock = createFakeClock();
  const gate = createVaultGate((onState) => {
    watchers++;
    hear = onState;
    return () => void watchers--;
  }, clock);
  const gone: string[] = [];
  return {
    gate,
    clock,
    gone,
    wait: (name: string) => gate.wait(() => gone.push(name)),
    say: (sealed: boolean | null) => hear(sealed === null ? null : { initialized: true, sealed }),
    watchers: () => watchers,
  };
}

test('all waiting instances start when the vault is unsealed, and it is no longer watched', () => {
  const { wait, say, gone, watchers } = openGate();
  wait('a');
  say(true);
  wait('b');
  expect([gone, watchers()]).toEqual([[], 1]);
  say(false);
  expect([gone, watchers()]).toEqual([['a', 'b'], 0]);
});

test('an instance that stops waiting does not start, and the last one ends the watch', () => {
  const { wait, say, gone, watchers } = openGate();
  const leave = [wait('a'), wait('b')];
  leave[0]?.();
  expect(watchers()).toBe(1);
  say(false);
  expect([gone, watchers()]).toEqual([['b'], 0]);
  wait('c')();
  expect(watchers()).toBe(0);
});

test('no instance starts while the vault is unreachable or sealed', () => {
  const { wait, say, gone } = openGate();
  wait('a');
  for (const state of [null, null, true, null, true]) say(state);
  expect(gone).toEqual([]);
});

test('an unsealed vault without the secret is retried with growing pauses, which sealing resets', () => {
  const { wait, say, gone, clock } = openGate();
  const again = () => {
    wait('x');
    say(false);
  };
  again();
  expect(gone).toHaveLength(1);
  for (const pauseMs of [1000, 2000, 4000]) {
    const before = gone.length;
    again();
    clock.advance(pauseMs - 1);
    expect(gone).toHaveLength(before);
    clock.advance(1);
    expect(gone).toHaveLength(before + 1);
  }
  wait('x');
  say(true);
  say(false);
  expect(gone).toHaveLength(5);
});

test('a vault sealed during such a pause starts no instance at its end', () => {
  const { wait, say, gone, clock } = openGate();
  wait('a');
  say(false);
  wait('b');
  say(false);
  say(true);
  clock.advance(60_000);
  expect(gone).toEqual(['a']);
});

test('no instance starts after close()', async () => {
  const { gate, wait, say, gone } = openGate();
  wait('a');
  gate.close();
  say(false);
  expect(gone).toEqual([]);
});
