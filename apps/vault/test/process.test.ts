import { cpSync, readdirSync, readFileSync, statSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import type { ChildProcess } from 'node:child_process';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { freePorts } from '@svc/testing/free-ports.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { killHard } from '@svc/testing/kill-hard.ts';
import { askProcess, startVaultProcess } from '@svc/testing/vault-process.ts';
import { until } from '@svc/testing/until.ts';
import { usualOrDeep } from '@svc/testing/usual-or-deep.ts';
import { makeVault } from './open-in-process.ts';

const passphrase = 'canary-passphrase-of-the-vault';
let folder: TemporaryFolder;
let port: number;
let vault: { child: ChildProcess; output: () => string };
let adminKey: string;
let agentKey: string;

const put = (name: string, value: string) =>
  askProcess(port, 'POST /v1/credentials', { body: { name, value, min_trust: 'SACRED' }, adminKey });

async function read(name: string): Promise<unknown> {
  const issued = await askProcess(port, 'POST /v1/tokens', { body: { name }, agentKey });
  const redeemed = await askProcess(port, 'POST /v1/redeem', { body: { token: issued?.body['token'] }, agentKey });
  return redeemed?.body['value'] ?? issued?.status;
}

const unseal = () => askProcess(port, 'POST /v1/unseal', { body: { passphrase }, adminKey });

describe('a vault with a cheap key derivation', () => {
  /** With a vault that each test has a copy of. */
  let made: TemporaryFolder;
  beforeAll(async () => {
    made = temporaryFolder();
    ({ adminKey, agentKey } = await makeVault(made.path, passphrase));
  });
  afterAll(() => made.remove());
  beforeEach(async () => {
    folder = temporaryFolder();
    cpSync(made.path, folder.path, { recursive: true });
    [port = 0] = await freePorts(1);
    await start();
  });
  afterEach(async () => {
    await killHard(vault.child);
    folder.remove();
  });

  async function restart(): Promise<void> {
    await killHard(vault.child);
    await start();
  }

  async function start(): Promise<void> {
    vault = await startVaultProcess(folder.path, port);
    expect((await askProcess(port, 'GET /v1/status'))?.body).toEqual({ initialized: true, sealed: true });
    expect((await unseal())?.status).toBe(200);
  }

  test('V09: a kill during puts and rotations of the root key loses nothing acknowledged', async () => {
    const acknowledged = new Map<string, number>();
    for (let round = 0; round < usualOrDeep(3, 10); round++) {
      const attempted = new Map<string, number>();
      const killAfter = 5 + Math.floor(Math.random() * 40);
      let done = 0;
      const writer = async (name: string) => {
        for (let n = (acknowledged.get(name) ?? 0) + 1; ; n++) {
          attempted.set(name, n);
          if ((await put(name, `${name}-${n}`))?.status !== 200) return;
          acknowledged.set(name, n);
          if (++done === killAfter) vault.child.kill('SIGKILL');
        }
      };
      const rotator = async () => {
        for (let status: number | undefined = 200; status === 200;) {
          status = (await askProcess(port, 'POST /v1/rotate', { adminKey }))?.status;
        }
      };
      await Promise.all([writer('A'), writer('B'), writer('C'), rotator()]);
      await restart();
      for (const [name, attempt] of attempted) {
        const last = acknowledged.get(name) ?? 0;
        expect([`${name}-${last}`, `${name}-${attempt}`, ...(last === 0 ? [404] : [])]).toContain(await read(name));
        const value = await read(name);
        acknowledged.set(name, typeof value === 'string' ? Number(value.split('-')[1]) : 0);
      }
    }
  });

  test('stops cleanly on SIGTERM', async () => {
    await put('A', 'kept');
    const exit = new Promise((resolve) => vault.child.once('exit', resolve));
    vault.child.kill('SIGTERM');
    expect(await exit).toBe(0);
    await restart();
    expect(await read('A')).toBe('kept');
  });
});

describe('a vault that the process sets up itself', () => {
  beforeAll(async () => {
    folder = temporaryFolder();
    [port = 0] = await freePorts(1);
    vault = await startVaultProcess(folder.path, port);
    const answer = await askProcess(port, 'POST /v1/init', { body: { passphrase } });
    adminKey = String(answer?.body['admin_key']);
    const agent = await askProcess(port, 'POST /v1/agents', { body: { name: 'assistant', tier: 'SACRED' }, adminKey });
    agentKey = String(agent?.body['key']);
  });
  /** After a test that sealed it. A wrong passphrase before has to be waited for. */
  beforeEach(async () => {
    const isOpen = async () =>
      (await askProcess(port, 'GET /v1/status'))?.body['sealed'] === false || (await unseal())?.status === 200;
    await until(isOpen);
  });
  afterAll(async () => {
    await killHard(vault.child);
    folder.remove();
  });

  test('its files are private to their owner, and a second process cannot open them', async () => {
    const dir = path.join(folder.path, 'vault');
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(dir)) expect(statSync(path.join(dir, name)).mode & 0o777).toBe(0o600);
    const [other = 0] = await freePorts(1);
    await expect(startVaultProcess(folder.path, other)).rejects.toThrow('ended with 1');
  });

  test('keeps its memory out of core dumps', () => {
    expect(Number.parseInt(readFileSync(`/proc/${vault.child.pid}/coredump_filter`, 'utf8'), 16)).toBe(0);
  });

  test('V10: no secret shows in files, logs, errors, arguments, the environment or any GET', async () => {
    const canary = 'canary-value-4f9a8b7c6d5e';
    await put('CANARY', canary);
    expect(await read('CANARY')).toBe(canary);
    const silo = await askProcess(port, 'POST /v1/silos/generate', { body: { silo: 's' }, agentKey });
    await askProcess(port, 'POST /v1/unseal', { body: { passphrase: `${passphrase}-mistyped` }, adminKey });
    await askProcess(port, 'POST /v1/rotate', { adminKey });
    const answers = [await sendBroken(`{"name":"CANARY","value":"${canary}`), await sendBroken(canary)];
    for (const body of [
      { name: 'X', value: canary, min_trust: canary },
      { name: canary.repeat(10), value: canary },
    ]) {
      answers.push(JSON.stringify(await askProcess(port, 'POST /v1/credentials', { body, adminKey })));
    }
    const gets = [
      '/v1/status',
      '/v1/credentials',
      '/v1/agents',
      '/v1/access',
      '/health',
      '/version',
      '/openapi.json',
      '/v1/credentials/CANARY',
    ];
    for (const url of gets) answers.push(JSON.stringify((await askProcess(port, `GET ${url}`, { adminKey, agentKey }))?.body));

    const visible = everythingVisible(vault.child.pid ?? 0);
    answers.forEach((text, n) => visible.set(`answer ${n}`, text));
    const secrets = [canary, passphrase, adminKey, agentKey, String(silo?.body['key'])];
    for (const secret of secrets) {
      for (const form of [
        secret,
        Buffer.from(secret).toString('base64').replace(/=+$/, ''),
        Buffer.from(secret).toString('hex'),
      ]) {
        const leaks = [...visible].flatMap(([place, text]) => (text.includes(form) ? [place] : []));
        expect(leaks).toEqual([]);
      }
    }
  });

  test('V02: trying a passphrase takes at least 250 ms, while the vault keeps answering', async () => {
    await askProcess(port, 'POST /v1/seal', { adminKey });
    const begun = performance.now();
    let isOver = false;
    const body = { passphrase: 'not the passphrase' };
    const wrong = askProcess(port, 'POST /v1/unseal', { body, adminKey }).finally(() => (isOver = true));
    const status = await askProcess(port, 'GET /v1/status');
    expect(isOver).toBe(false);
    expect((await wrong)?.status).toBe(403);
    expect(performance.now() - begun).toBeGreaterThan(250);
    expect(status?.body['sealed']).toBe(true);
  });
});

/** Everything the vault's process shows to others or leaves behind. */
function everythingVisible(pid: number): Map<string, string> {
  const seen = new Map([['output', vault.output()]]);
  for (const name of ['cmdline', 'environ']) seen.set(name, readFileSync(`/proc/${pid}/${name}`, 'latin1'));
  for (const name of readdirSync(folder.path, { recursive: true, encoding: 'utf8' })) {
    const file = path.join(folder.path, name);
    if (statSync(file).isFile()) seen.set(name, readFileSync(file, 'latin1'));
  }
  return seen;
}

/** Sends bytes that are no JSON, with a secret among them. */
const sendBroken = (body: string) =>
  new Promise<string>((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'x-admin-key': adminKey };
    const request = http.request({ port, path: '/v1/credentials', method: 'POST', headers }, (response) => {
      let text = '';
      response.on('data', (part) => (text += String(part))).on('end', () => resolve(text));
    });
    request.on('error', reject).end(body);
  });
