import { afterEach, beforeEach, expect, test } from 'vitest';
import type { VaultState } from '@svc/contract/vault.ts';
import { systemClock } from '@svc/service-kit/clock.ts';
import { openRequest } from '@svc/service-kit/http/json-client.ts';
import { watchVault } from '@svc/service-kit/vault/watch-vault.ts';
import { openTestVault, passphrase, type TestVault } from './open-test-vault.ts';

let vault: TestVault;
let url: string;
beforeEach(async () => {
  vault = await openTestVault();
  url = await vault.app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(() => vault.close());

/** The states that a watcher got; null while the vault is away. */
function watch() {
  const heard: (VaultState | null)[] = [];
  const stop = watchVault({ url, clock: systemClock, onState: (state) => heard.push(state) });
  return { heard, stop };
}
const state = (initialized: boolean, sealed: boolean) => ({ initialized, sealed });

test('a watcher gets the current state and every change of it, by any caller', async () => {
  const { heard, stop } = watch();
  await expect.poll(() => heard).toEqual([state(false, true)]);
  await vault.init();
  await vault.ask('POST /v1/seal');
  await vault.unseal('not the passphrase');
  vault.clock.advance(60_000);
  expect((await vault.unseal()).status).toBe(200);
  await expect.poll(() => heard).toEqual([state(false, true), state(true, false), state(true, true), state(true, false)]);
  stop();
  await vault.ask('POST /v1/seal');
  expect(heard).toHaveLength(4);
});

test('a watcher notices that the vault stops, and does not delay that', async () => {
  const { heard, stop } = watch();
  await expect.poll(() => heard).toHaveLength(1);
  await vault.app.close();
  await expect.poll(() => heard.at(-1)).toBeNull();
  stop();
});

test('watchers over the limit are refused until one leaves', async () => {
  const open = () => openRequest(`${url}/v1/watch`, { timeoutMs: 20_000, headers: { connection: 'close' } });
  const streams = await Promise.all(Array.from({ length: 32 }, open));
  const refused = await open();
  expect(refused.statusCode).toBe(503);
  refused.resume();
  streams.pop()?.destroy();
  await expect
    .poll(async () => {
      const next = await open();
      next.destroy();
      return next.statusCode;
    })
    .toBe(200);
  for (const stream of streams) stream.destroy();
});

test('the stream needs no key, and contains only the state', async () => {
  await vault.init();
  const { heard, stop } = watch();
  await expect.poll(() => heard).toEqual([state(true, false)]);
  expect(JSON.stringify(heard)).not.toContain(passphrase);
  stop();
});
