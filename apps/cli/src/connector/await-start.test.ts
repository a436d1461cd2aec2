import type { Instance } from '@svc/contract/instance.ts';
import { expect, test } from 'vitest';
import { awaitStart } from './await-start.ts';

const instance = (fields: Partial<Instance>) => ({ id: 'shop', enabled: true, status: 'stopped', ...fields }) as Instance;

test('awaitStart() waits for an enabled instance that is still stopped, but not for a disabled one', async () => {
  const states: Partial<Instance>[] = [{ status: 'starting' }, { status: 'running' }];
  const api = { view: async () => instance(states.shift() ?? {}) };
  const deps = { api, pause: async () => undefined };
  expect(await awaitStart(deps, instance({}))).toMatchObject({ status: 'running' });
  expect(await awaitStart(deps, instance({ enabled: false }))).toMatchObject({ status: 'stopped' });
});

test('awaitStart() after a restart ignores the hanging process', async () => {
  const old = instance({ status: 'running', pid: 7 });
  const states = [old, instance({ status: 'starting', pid: 8 }), instance({ status: 'running', pid: 8 })];
  const api = { view: async () => states.shift() ?? old };
  expect(await awaitStart({ api, pause: async () => undefined }, old, 7)).toMatchObject({ status: 'running', pid: 8 });
});
