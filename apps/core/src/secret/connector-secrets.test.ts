import { expect, test } from 'vitest';
import type { Secret } from '@svc/service-kit/secret.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createConnectorSecrets } from './connector-secrets.ts';

const manager = { types: async () => [], instances: async () => [] };

test('concurrent requests for secrets are limited and served again when some have ended', async () => {
  const found: (() => void)[] = [];
  const get = () => new Promise<Secret | null>((resolve) => found.push(() => resolve(null)));
  const secrets = createConnectorSecrets({ manager, secrets: { get }, clock: createFakeClock(), log: { warn: () => {} } });
  const asked = Array.from({ length: 33 }, (_, n) => secrets.learn(`SECRET_${n}`));
  await expect(asked.pop()).rejects.toMatchObject({ code: 'queue_full' });
  for (const find of found) find();
  await Promise.all(asked);
  void secrets.learn('ONE_MORE');
  expect(found).toHaveLength(33);
});

test('a secret store that fails is logged without failing the request', async () => {
  const told: string[] = [];
  const secrets = createConnectorSecrets({
    manager,
    secrets: { get: () => Promise.reject(new Error('EACCES')) },
    clock: createFakeClock(),
    log: { warn: (message: string) => told.push(message) } as never,
  });
  await secrets.learn('DOOR');
  expect(told).toEqual(['The secret "DOOR" of a connector cannot be masked in replies: EACCES']);
});
