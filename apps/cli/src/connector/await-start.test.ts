import type { Instance } from '@svc/contract/instance.ts';
import { expect, test } from 'vitest';
import { awaitStart } from './await-start.ts';

const instance = (fields: Partial<Instance>) => ({ id: 'shop', enabled: true, status: 'stopped', ...fields }) as Instance;

test('one that was just added and has not begun to start is waited for; one that is off is not', async () => {
  const states: Partial<Instance>[] = [{ status: 'starting' }, { status: 'running' }];
  const api = { view: async () => instance(states.shift() ?? {}) };
  const deps = { api, pause: async () => undefined };
  expect(await awaitStart(deps, instance({}))).toMatchObject({ status: 'running' });
  expect(await awaitStart(deps, instance({ enabled: false }))).toMatchObject({ status: 'stopped' });
});
