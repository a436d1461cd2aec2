import { spawn, type ChildProcess } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { ManifestEntry, UploadedFile } from '@svc/contract/upload.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { spawnCore } from '@svc/testing/spawn-core.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { usualOrDeep } from '@svc/testing/usual-or-deep.ts';

const chunk = 64 * 1024;
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

const folder = temporaryFolder();
const uploads = path.join(folder.path, 'uploads');
const [corePort, manager, collector] = (await freePorts(3)) as [number, number, number];
const coreUrl = `http://127.0.0.1:${corePort}`;

/** The processes that are killed, at any time. */
const running = new Set<ChildProcess>();
const watch = <T extends ChildProcess>(child: T) => {
  running.add(child);
  const exited = new Promise<number | null>((resolve) => child.on('close', (code) => (running.delete(child), resolve(code))));
  return { child, exited };
};
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
  folder.remove();
});

let core: ReturnType<typeof watch> | null = null;
/** The core that runs, or another one where it was killed. */
const theCore = async () => (core !== null && running.has(core.child) ? core : (core = await startCore()));
async function startCore() {
  const env = { SVC_UPLOAD_CHUNK_SIZE: String(chunk) };
  const started = watch(spawnCore(folder.path, { core: corePort, manager, collector }, env));
  let output = '';
  await new Promise<void>((resolve) => {
    started.child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.includes('core is ready')) resolve();
    });
    void started.exited.then(() => resolve());
  });
  return started;
}
async function killCore(): Promise<void> {
  const { child, exited } = await theCore();
  child.kill('SIGKILL');
  await exited;
}

function writeFile(name: string, bytes: Buffer): string {
  const file = path.join(folder.path, name);
  writeFileSync(file, bytes);
  return file;
}

function send(file: string) {
  const args = [path.join(repositoryRoot, 'apps/cli/src/main.ts'), 'upload', file, '--json'];
  const settings = {
    SVC_DATA_DIR: folder.path,
    SVC_CORE_PORT: String(corePort),
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
  };
  const sender = watch(spawn(process.execPath, args, { env: { PATH: process.env['PATH'], HOME: folder.path, ...settings } }));
  let [out, err] = ['', ''];
  sender.child.stdout.on('data', (text: Buffer) => (out += text.toString()));
  sender.child.stderr.on('data', (text: Buffer) => (err += text.toString()));
  return { ...sender, printed: () => ({ out, err }) };
}

/** Finishing has begun, and the file is still to be moved. */
const isDecided = (folder: string): boolean =>
  existsSync(path.join(folder, 'entry.json')) && existsSync(path.join(folder, 'data'));

function manifestLines(): ManifestEntry[] {
  const manifest = path.join(uploads, 'manifest.jsonl');
  if (!existsSync(manifest)) return [];
  return readFileSync(manifest, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as ManifestEntry);
}

type Victim = 'core' | 'command' | 'both';
const each: Victim[] = ['core', 'command', 'both'];

test('an upload resumes after kill -9 of the core, of the command and of both, and its bytes are the same', async () => {
  const bytes = randomBytes(400 * chunk + 17);
  const file = writeFile('three-kills.bin', bytes);
  const staging = path.join(uploads, '.staging');
  const idsBefore = new Set(existsSync(staging) ? readdirSync(staging) : []);
  const landed = () => {
    const id = existsSync(staging) ? readdirSync(staging).find((one) => !idsBefore.has(one)) : undefined;
    const map = id === undefined ? null : path.join(staging, id, 'map');
    return map !== null && existsSync(map) ? readFileSync(map).reduce((sum, byte) => sum + byte, 0) : 0;
  };
  for (const [index, victim] of usualOrDeep<Victim[]>(each, [...each, ...each]).entries()) {
    await theCore();
    const sender = send(file);
    await expect.poll(landed, { interval: 2 }).toBeGreaterThan(40 * (index + 1));
    if (victim !== 'command') await killCore();
    if (victim !== 'core') sender.child.kill('SIGKILL');
    await theCore();
    // A command that outlives the core goes on by itself; here it only has to be out of the way of the next.
    sender.child.kill('SIGKILL');
    await sender.exited;
  }
  const last = send(file);
  expect(await last.exited, last.printed().err).toBe(0);
  const uploaded = JSON.parse(last.printed().out) as UploadedFile;
  expect(uploaded).toMatchObject({ bytes: bytes.length, sha256: sha256(bytes) });
  expect(sha256(readFileSync(uploaded.path))).toBe(sha256(bytes));
  expect(manifestLines().filter((line) => line.sha256 === sha256(bytes))).toHaveLength(1);
}, 120_000);

test('a running upload command continues by itself when the core is killed and restarts', async () => {
  const bytes = randomBytes(300 * chunk);
  await theCore();
  const sender = send(writeFile('one-kill.bin', bytes));
  await expect.poll(() => sender.printed().err, { interval: 2 }).toMatch(/^[2-9]\d %/m);
  await killCore();
  await theCore();
  expect(await sender.exited, sender.printed().err).toBe(0);
  expect(JSON.parse(sender.printed().out)).toMatchObject({ sha256: sha256(bytes) });
});

test('[U10] kill -9 of the core as uploads finish leaves no line without a file, and after a restart no file without a line', async () => {
  const rounds = Number(process.env['UPLOAD_KILLS'] ?? usualOrDeep(4, 30));
  for (let round = 0; round < rounds; round++) {
    const { child, exited } = await theCore();
    const one = async (index: number) => {
      const url = `${coreUrl}/v2/upload?filename=${round}-${index}.bin`;
      return fetch(url, { method: 'POST', body: randomBytes(2000) }).catch(() => null);
    };
    // Otherwise a busy machine may kill it before any file was accepted, and nothing would be tested.
    expect((await one(-1))?.ok).toBe(true);
    // Some have ended by then, and the others are anywhere.
    let left = 1 + Math.floor(Math.random() * 39);
    const end = () => (left -= 1) === 0 && child.kill('SIGKILL');
    await Promise.all(Array.from({ length: 40 }, (_, index) => one(index).then(end)));
    await exited;
    for (const { path: file } of manifestLines()) expect(existsSync(path.join(uploads, file))).toBe(true);
  }
  await theCore();
  const files = () =>
    readdirSync(uploads, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== '.staging')
      .flatMap((entry) => readdirSync(path.join(uploads, entry.name)).map((name) => path.join(entry.name, name)));
  // The sweep follows the start by a few seconds, and moves files as well as it adds lines.
  const staged = () => readdirSync(path.join(uploads, '.staging')).filter((id) => isDecided(path.join(uploads, '.staging', id)));
  const lines = () => manifestLines().map((entry) => entry.path);
  const apart = () => {
    const [listed, there] = [new Set(lines()), new Set(files())];
    return [...lines().filter((file) => !there.has(file)), ...files().filter((file) => !listed.has(file))];
  };
  await expect.poll(() => [...apart(), ...staged()]).toEqual([]);
  for (const entry of manifestLines()) {
    const content = readFileSync(path.join(uploads, entry.path));
    expect([content.length, sha256(content)]).toEqual([entry.bytes, entry.sha256]);
  }
}, 120_000);
