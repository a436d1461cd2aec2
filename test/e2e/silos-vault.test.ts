import type { ChildProcess } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Silo } from '@svc/contract/silo.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { startCore } from '@svc/testing/spawn-core.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { usualOrDeep } from '@svc/testing/usual-or-deep.ts';
import { killHard } from '@svc/testing/kill-hard.ts';
import { askProcess, startVaultProcess } from '@svc/testing/vault-process.ts';
import { makeVault } from '../../apps/vault/test/open-in-process.ts';

const passphrase = 'tulips in the moonlight';
const canary = 'canary: the tulips are under the oak';

let folder: TemporaryFolder;
let ports: { core: number; manager: number; collector: number; vault: number };
let vault: Awaited<ReturnType<typeof startVaultProcess>>;
let core: Awaited<ReturnType<typeof startCore>>;
let keys: { adminKey: string; agentKey: string };

beforeAll(async () => {
  folder = temporaryFolder();
  const [one, manager, collector, four] = (await freePorts(4)) as [number, number, number, number];
  ports = { core: one, manager, collector, vault: four };
  keys = await makeVault(folder.path, passphrase);
  vault = await startVaultProcess(folder.path, ports.vault);
  await unseal();
  core = await openCore();
});
/** Both processes run and the vault is unsealed, whatever the previous test did. */
beforeEach(async () => {
  if (hasEnded(vault.child)) await restartVault();
  if ((await askProcess(ports.vault, 'GET /v1/status'))?.body['sealed'] !== false) await unseal();
  if (hasEnded(core.child)) core = await openCore();
});
afterAll(async () => {
  await Promise.all([killHard(core.child), killHard(vault.child)]);
  folder.remove();
});

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;
const openCore = () =>
  startCore(folder.path, ports, { SVC_VAULT_URL: `http://127.0.0.1:${ports.vault}`, SVC_VAULT_AGENT_KEY: keys.agentKey });
/** A new core has no key in its memory. */
async function restartCore(): Promise<void> {
  await killHard(core.child);
  core = await openCore();
}
async function restartVault(): Promise<void> {
  await killHard(vault.child);
  vault = await startVaultProcess(folder.path, ports.vault);
}
const unseal = async () => {
  const answer = await askProcess(ports.vault, 'POST /v1/unseal', { body: { passphrase }, adminKey: keys.adminKey });
  expect(answer?.status).toBe(200);
};

const url = (rest: string) => `http://127.0.0.1:${ports.core}/v2/silos${rest}`;
async function create(name: string): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url(''), { method: 'POST', headers, body: JSON.stringify({ name, min_trust: 'SACRED' }) });
  expect(answer.status).toBe(200);
  const { silo } = (await answer.json()) as { silo: Silo };
  expect(silo.encrypted).toBe(true);
  return silo.id;
}
async function put(id: string, at: string, text: string) {
  const answer = await fetch(url(`/${id}/file?path=${at}`), { method: 'POST', body: text });
  return { status: answer.status, body: (await answer.json()) as { message?: string; encrypted?: boolean } };
}
async function get(id: string, at: string) {
  const answer = await fetch(url(`/${id}/file?path=${at}`));
  return { status: answer.status, text: await answer.text() };
}
const blobs = () =>
  readdirSync(path.join(folder.path, 'silos'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));

test('[S01] a silo is encrypted with a key from the vault, and none of its text is on the disk in the clear', async () => {
  const id = await create('plans');
  expect(await put(id, 'a.txt', canary)).toMatchObject({ status: 200, body: { encrypted: true } });
  expect(await get(id, 'a.txt')).toEqual({ status: 200, text: canary });
  await restartCore();
  expect(await get(id, 'a.txt')).toEqual({ status: 200, text: canary });
  const everything = readdirSync(folder.path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const entry of everything) {
    expect(readFileSync(path.join(entry.parentPath, entry.name)).includes('tulips'), entry.name).toBe(false);
  }
});

test('a silo refuses reads and writes while the vault is sealed, and works again once it is unsealed', async () => {
  const id = await create('letters');
  await put(id, 'a.txt', canary);
  const before = blobs();
  expect((await askProcess(ports.vault, 'POST /v1/seal', { adminKey: keys.adminKey }))?.status).toBe(200);
  await restartCore();
  const sealed = { status: 503, text: expect.stringMatching(/vault is sealed/i) };
  expect(await get(id, 'a.txt')).toEqual(sealed);
  expect(await put(id, 'a.txt', 'other')).toMatchObject({ status: 503, body: { message: expect.stringMatching(/sealed/i) } });
  const fresh = await create('fresh');
  expect((await put(fresh, 'b.txt', 'x')).status).toBe(503);
  expect(blobs()).toEqual(before);
  await unseal();
  expect(await get(id, 'a.txt')).toEqual({ status: 200, text: canary });
  expect((await put(fresh, 'b.txt', 'x')).status).toBe(200);
});

test('a silo can be read again after the vault was killed, restarted and unsealed', async () => {
  const id = await create('photos');
  await put(id, 'a.txt', canary);
  await killHard(vault.child);
  await restartCore();
  expect(await get(id, 'a.txt')).toEqual({ status: 503, text: expect.stringContaining('vault cannot be reached') });
  await restartVault();
  expect(await get(id, 'a.txt')).toEqual({ status: 503, text: expect.stringMatching(/sealed/i) });
  await unseal();
  expect(await get(id, 'a.txt')).toEqual({ status: 200, text: canary });
});

const victims = ['core', 'vault', 'both'];

test('kill -9 of core and vault during uploads loses no acknowledged file and leaves no other', async () => {
  const acknowledged = new Map<string, string>();
  for (const victim of usualOrDeep(victims, [...victims, ...victims])) {
    const ids = await Promise.all(['a', 'b'].map((name) => create(`${victim}-${name}-${acknowledged.size}`)));
    let done = 0;
    const writer = async (id: string) => {
      for (let n = 0; n < 200; n++) {
        const text = `${id} ${n} ${'x'.repeat(n * 300)}`;
        const answer = await put(id, `f${n}`, text).catch(() => null);
        if (answer?.status !== 200) return;
        acknowledged.set(`${id} f${n}`, text);
        if (++done < 8) continue;
        if (victim !== 'vault') core.child.kill('SIGKILL');
        if (victim !== 'core') return void vault.child.kill('SIGKILL');
      }
    };
    await Promise.all(ids.map(writer));
    if (victim !== 'core') {
      await restartVault();
      await unseal();
    }
    if (victim !== 'vault') await restartCore();
  }
  expect(acknowledged.size).toBeGreaterThan(15);
  for (const [key, text] of acknowledged) {
    const [id = '', at = ''] = key.split(' ');
    expect(await get(id, at)).toEqual({ status: 200, text });
  }
  const { silos } = (await (await fetch(url(''))).json()) as { silos: Silo[] };
  await expect.poll(() => blobs().length).toBe(silos.reduce((sum, silo) => sum + silo.files, 0));
  for (const { id } of silos) expect((await fetch(url(`/${id}?with_files=1`), { method: 'DELETE' })).status).toBe(200);
  expect(blobs()).toEqual([]);
});
