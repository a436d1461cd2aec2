import { afterEach, expect, onTestFinished, test } from 'vitest';
import { http } from '@svc/service-kit/builtin.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { listen } from '@svc/testing/listen.ts';
import { startVaultServer } from '@svc/testing/vault-server.ts';
import { openTestCore, type TestCore } from './open-test-core.ts';

const value = 'tulips under the oak';
let core: TestCore;
afterEach(() => core.close());

const types = [{ type: 'shed', credentialKeys: ['door', 'roof'] }];
const shed = (config: object, enabled = true) => ({ type: 'shed', enabled, config });

/** A stand-in for the manager, which fails the given number of times first. */
async function standInManager(instances: object[], { failures = 0, port: wanted = 0 } = {}) {
  const asked: string[] = [];
  let left = failures;
  const server = http.createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.authorization}`);
    const isTypes = request.url === '/types';
    const body = isTypes ? { types } : { instances };
    response.writeHead(isTypes && left-- > 0 ? 503 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  const { port, close } = await listen(server, wanted);
  const tries = () => asked.filter((request) => request.startsWith('/types')).length;
  onTestFinished(close);
  return { asked, tries, env: { SVC_MANAGER_PORT: String(port), SVC_MANAGER_TOKEN: 'the-token-of-this-manager' } };
}

const shown = (text = value) => core.context.knownSecrets.redactor().text(text);
const learn = (payload: object) => core.app.inject({ method: 'POST', url: '/v2/secrets/learn', payload });

test('a learned secret is masked, and the answer does not show whether it exists', async () => {
  core = await openTestCore({ env: { SHED_DOOR: value } });
  expect(shown()).toBe(value);
  const answer = await learn({ name: 'SHED_DOOR' });
  expect([answer.statusCode, answer.json()]).toEqual([200, { ok: true }]);
  expect(shown()).toBe('[redacted:secret]');
  expect((await learn({ name: 'NOBODY_HAS_IT' })).json()).toEqual({ ok: true });
  expect((await learn({ name: 'SHED_DOOR', value: 'x' })).statusCode).toBe(400);
});

test('at startup the core learns the secrets that enabled connectors name, and no others', async () => {
  const manager = await standInManager([shed({ door: 'SHED_DOOR', roof: 7 }), shed({ door: 'OFF_DOOR' }, false), { type: 'x' }]);
  core = await openTestCore({ env: { ...manager.env, SHED_DOOR: value, OFF_DOOR: 'roses at the gate' } });
  await core.context.connectorSecrets.learnAll();
  expect([shown(), shown('roses at the gate')]).toEqual(['[redacted:secret]', 'roses at the gate']);
  expect(new Set(manager.asked)).toEqual(
    new Set(['/types Bearer the-token-of-this-manager', '/instances Bearer the-token-of-this-manager']),
  );
});

test('the core asks the manager again at growing intervals until it answers', async () => {
  const clock = createFakeClock();
  const manager = await standInManager([shed({ door: 'SHED_DOOR' })], { failures: 2 });
  core = await openTestCore({ clock, env: { ...manager.env, SHED_DOOR: value } });
  await core.context.connectorSecrets.learnAll();
  expect([shown(), manager.tries()]).toEqual([value, 1]);
  clock.advance(5_000);
  await expect.poll(manager.tries).toBe(2);
  await expect
    .poll(() => {
      clock.advance(5_000);
      return shown();
    })
    .toBe('[redacted:secret]');
  expect(manager.tries()).toBe(3);
});

test('the core does not ask again when no manager listens: a manager names the secrets when it starts', async () => {
  const clock = createFakeClock();
  const [port = 0] = await freePorts(1);
  core = await openTestCore({ clock, env: { SVC_MANAGER_PORT: String(port), SHED_DOOR: value } });
  await core.context.connectorSecrets.learnAll();
  const manager = await standInManager([shed({ door: 'SHED_DOOR' })], { port });
  clock.advance(10 * 60_000);
  for (const probe of ['/1', '/2']) await requestJson(`http://127.0.0.1:${port}${probe}`, { timeoutMs: 40_000 });
  expect(manager.asked).toEqual(['/1 undefined', '/2 undefined']);
});

test('a core that was restarted while the vault is sealed learns the secrets of running connectors when it is opened', async () => {
  const [manager, vault] = [await standInManager([shed({ door: 'SHED_DOOR' })]), await startVaultServer(value)];
  onTestFinished(vault.close);
  core = await openTestCore({ env: { ...manager.env, SVC_VAULT_URL: vault.url, SVC_VAULT_AGENT_KEY: 'vagent_of-the-core' } });
  await core.context.connectorSecrets.learnAll();
  expect(shown()).toBe(value);
  vault.open();
  await expect.poll(() => shown()).toBe('[redacted:secret]');
});
