import { existsSync, mkdirSync, readdirSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { EngineView } from '@svc/contract/engine.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { filesHolding } from '@svc/testing/files-below.ts';
import { waitFor } from '@svc/testing/house.ts';
import { processesIn } from '@svc/testing/model-server/find-processes.ts';
import { codexPackage, fakeCodex, startPackageRegistry } from '@svc/testing/package-registry/start-package-registry.ts';
import { loadEngineFacts } from '../src/engine/load-engine.ts';
import { dataDir, startCoreProcess } from './start-core-process.ts';

type Core = Awaited<ReturnType<typeof startCoreProcess>>;

const ask = async <T>({ url }: Core, method: string, at: string, body?: object) =>
  (await requestJson<T>(`${url}/v2/engines${at}`, { method, body, timeoutMs: 30_000 })).body;
const view = async (core: Core, id: string) =>
  (await ask<{ engines: EngineView[] }>(core, 'GET', '')).engines.find((engine) => engine.id === id);

async function start(dir: string, env: Record<string, string> = {}): Promise<Core> {
  const core = await startCoreProcess(dir, env);
  await core.ready();
  return core;
}

async function openRegistry() {
  const registry = await startPackageRegistry();
  onTestFinished(() => registry.close());
  return registry;
}

test('engine settings and a key survive a kill, and the key is found in secrets.json only', async () => {
  const dir = dataDir();
  const key = 'sk-canary-0123456789';
  const first = await start(dir, { SVC_LOG_LEVEL: 'trace' });
  await ask(first, 'PATCH', '/codex', { model: 'gpt-6-luna', auto_update: true, billing: 'subscription' });
  await ask(first, 'POST', '/codex/base-url', { url: 'http://127.0.0.1:9/v1' });
  await ask(first, 'PUT', '/gemini/apikey', { value: key });
  first.child.kill('SIGKILL');
  await first.exited;
  const second = await start(dir);
  expect(await view(second, 'codex')).toMatchObject({
    model: 'gpt-6-luna',
    auto_update: true,
    billing: 'subscription',
    base_url: 'http://127.0.0.1:9/v1',
  });
  expect(await view(second, 'gemini')).toMatchObject({ connection: 'api_key', key_present: true });
  const secrets = path.join(dir, 'secrets.json');
  expect([filesHolding(dir, key), first.output().includes(key)]).toEqual([[secrets], false]);
  expect(statSync(secrets).mode & 0o777).toBe(0o600);
});

test(
  'a core killed during an installation leaves neither npm nor an engine behind, and can install again',
  { timeout: 90_000 },
  async () => {
    const dir = dataDir();
    const registry = await openRegistry();
    const version = (await loadEngineFacts('codex')).pin?.version ?? '';
    registry.publish(codexPackage, version, fakeCodex(version));
    const goOn = registry.hold();
    const env = { SVC_ENGINE_REGISTRY: registry.url };
    const first = await start(dir, env);
    await ask(first, 'POST', '/codex/install');
    const folder = path.join(dir, 'engines/codex');
    const isFetching = () => registry.asked.some((asked) => asked.includes('/-/'));
    await waitFor(isFetching, 30_000, () => `npm asks for nothing:\n${first.output()}`);
    const staging = readdirSync(folder).map((name) => path.join(folder, name));
    const npms = () => staging.flatMap((place) => processesIn(place, 'npm'));
    expect(npms().length).toBeGreaterThan(0);
    first.child.kill('SIGKILL');
    await first.exited;
    await waitFor(
      () => npms().length === 0,
      10_000,
      () => 'npm goes on',
    );
    expect(existsSync(path.join(folder, 'current'))).toBe(false);
    goOn();
    const second = await start(dir, env);
    expect(await view(second, 'codex')).toMatchObject({ installed: false, install: null });
    await ask(second, 'POST', '/codex/install');
    await expect.poll(async () => (await view(second, 'codex'))?.install?.state, { timeout: 60_000 }).toBe('done');
    expect([readlinkSync(path.join(folder, 'current')), readdirSync(folder).sort()]).toEqual([version, [version, 'current']]);
    expect(await view(second, 'codex')).toMatchObject({ installed: true, ready: true, version });
  },
);

test('a key from SVC_SECRETS_COMMAND is used and masked', async () => {
  const dir = dataDir();
  mkdirSync(path.join(dir, 'bin'));
  const command = path.join(dir, 'bin/give secret');
  writeFileSync(command, '#!/bin/sh\n[ "$2" = GEMINI_API_KEY ] && echo canary-from-a-command\n', { mode: 0o700 });
  const core = await start(dir, { SVC_SECRETS_COMMAND: JSON.stringify([command, '--plain']) });
  expect(await view(core, 'gemini')).toMatchObject({ connection: 'api_key', key_present: true });
  const sender = { raw_id: userInfo().username };
  const turn = {
    channel: 'shell',
    conversation_key: 'shell:x:y',
    sender,
    content: { text: 'echo canary-from-a-command' },
    delivery: 'sync',
  };
  const { body } = await requestJson<object>(`${core.url}/v2/handle`, { body: turn, timeoutMs: 40_000 });
  expect(body).toMatchObject({ outcome: 'replied' });
  expect(JSON.stringify(body)).not.toContain('canary-from-a-command');
});
