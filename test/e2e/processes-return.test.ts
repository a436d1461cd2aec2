import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Instance } from '@svc/contract/instance.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { isAlive, signalProcess } from '@svc/service-kit/process/signal-process.ts';
import { openHouse, waitFor, type House } from '@svc/testing/house.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';

type SmallDisk = { dataDir: string; remove(): void };

let disk: SmallDisk | null;
let house: House;

const names = ['core', 'manager', 'collector'] as const;
type Name = (typeof names)[number];

const view = (name: Name) => house.supervisor().services.find((service) => service.name === name);
const serves = async (name: Name): Promise<boolean> => {
  const { pid = null, status } = view(name) ?? {};
  if (status !== 'running' || pid === null || !isAlive(pid)) return false;
  return house.get(`${house.urls[name]}/health`).then(
    () => true,
    () => false,
  );
};
const isBack = (name: Name) =>
  waitFor(
    () => serves(name),
    60_000,
    () => `${name} is not back:\n${house.output()}`,
  );

/** Kills a process of the house; resolves when its supervisor has noticed. */
async function kill(name: Name): Promise<void> {
  const pid = house.pidOf(name);
  signalProcess(pid, 'SIGKILL');
  await waitFor(
    () => view(name)?.pid !== pid,
    10_000,
    () => `the end of ${name} was not noticed`,
  );
}

beforeAll(async () => {
  disk = mountSmallDisk();
  house = await openHouse(disk === null ? {} : { dataDir: disk.dataDir });
});
afterAll(async () => {
  await house.stop();
  disk?.remove();
});

test(
  'both running and restarted connectors reach the core after the file of its socket was removed',
  { timeout: 120_000 },
  async () => {
    const ask = async (text: string) => {
      const { status, body } = await requestJson<{ choices?: { message: { content: string } }[] }>(
        `${house.urls.compat}/v1/chat/completions`,
        {
          body: { model: 'assistant', messages: [{ role: 'user', content: text }] },
          headers: { authorization: `Bearer ${house.key()}` },
          timeoutMs: 60_000,
        },
      );
      return status === 200 ? body.choices?.[0]?.message.content : status;
    };
    expect(await ask('echo one')).toBe('one');
    const running = ask('wait 1 two');
    rmSync(path.join(house.folder, 'run/core.sock'));
    const pid = await house.compatPid();
    expect(await running).toBe('two');
    signalProcess(pid, 'SIGKILL');
    const isReplaced = async () => {
      const next = await house.compatPid().catch(() => pid);
      return (
        next !== pid &&
        next !== null &&
        (await house.get(`${house.urls.compat}/health`).then(
          () => true,
          () => false,
        ))
      );
    };
    await waitFor(isReplaced, 60_000, () => `compat is not back:\n${house.output()}`);
    expect(await ask('echo three')).toBe('three');
  },
);

test('the core restarts within 45 s after four kills in a row', { timeout: 120_000 }, async ({ annotate }) => {
  const before = view('core')?.restarts ?? 0;
  const times: number[] = [];
  for (let kills = 1; kills <= 4; kills++) {
    await kill('core');
    const killedAt = performance.now();
    await isBack('core');
    times.push(Math.round(performance.now() - killedAt));
  }
  await annotate(`back after ${times.join(', ')} ms`);
  expect(times.at(-1)).toBeLessThan(45_000);
  expect(view('core')).toMatchObject({ failures: before + 4, restarts: before + 4 });
});

test('a killed manager restarts its connectors, also one that had failed', { timeout: 120_000 }, async () => {
  const instance = async () =>
    (await house.get<{ instances: Instance[] }>(`${house.urls.manager}/instances`).catch(() => null))?.instances[0] ?? null;
  const becomes = (status: Instance['status']) =>
    waitFor(
      async () => (await instance())?.status === status,
      60_000,
      () => `it is not ${status}:\n${house.output()}`,
    );
  const killUntilFailed = async () => {
    const { status, pid } = (await instance()) ?? { status: null, pid: null };
    if (pid !== null && isAlive(pid)) signalProcess(pid, 'SIGKILL');
    return status === 'failed';
  };
  await waitFor(killUntilFailed, 60_000, () => 'it does not fail');
  const { body } = await house.post(`${house.urls.manager}/instances/compat/restart`);
  expect(body).toMatchObject({ instance: { status: 'running' } });
  await kill('manager');
  await isBack('manager');
  await becomes('running');
});

/** A small separate file system for the data folder; null where none can be mounted. */
function mountSmallDisk(): SmallDisk | null {
  const folder = temporaryFolder();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=48m', 'tmpfs', folder.path], { stdio: 'ignore' });
  } catch {
    folder.remove();
    return null; // not Linux, or not root
  }
  const dataDir = path.join(folder.path, 'data');
  mkdirSync(dataDir, { mode: 0o700 });
  return {
    dataDir,
    remove() {
      execFileSync('umount', ['-l', folder.path]);
      folder.remove();
    },
  };
}

function fill(file: string): void {
  const fd = openSync(file, 'w');
  try {
    for (;;) writeSync(fd, Buffer.alloc(4096, 1));
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
  } finally {
    closeSync(fd);
  }
}

test(
  'processes killed while the disk is full are restarted, and serve again once there is room',
  { timeout: 180_000 },
  async ({ skip }) => {
    if (disk === null) return skip('a small disk cannot be mounted here');
    const filler = path.join(disk.dataDir, 'filler');
    onTestFinished(() => rmSync(filler, { force: true }));
    fill(filler);
    for (const name of [...names, ...names]) {
      await waitFor(
        () => house.pidOf(name) > 0,
        30_000,
        () => `${name} is not started again`,
      );
      // Noticed: the state can be read while nothing new fits on the disk.
      await kill(name);
    }
    for (const name of names) expect(view(name)?.failures).toBeGreaterThan(1);
    rmSync(filler);
    for (const name of names) await isBack(name);
    const { status } = await house.get<{ status: string }>(`${house.urls.core}/health`);
    expect(status).toBe('ok');
  },
);
