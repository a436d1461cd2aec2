import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Instance } from '@svc/contract/instance.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { Secret } from '@svc/service-kit/secret.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fixtures } from './open-manager.ts';
import { eventually, isOpen } from './waiting.ts';

type Report = Record<string, { got?: string | number; refused?: string }>;

/** Errors of the permission model of Node, and of a Node that is built without a feature. */
const refusals =
  /^(ERR_ACCESS_DENIED|ERR_DLOPEN_DISABLED|ERR_UNKNOWN_BUILTIN_MODULE)$|is not a constructor|Cannot (convert|destructure|read properties)/;
const debuggerPort = 9229;

/** The managers of all tests compile their code once. */
const compiled = temporaryFolder();
afterAll(compiled.remove);

let folder: TemporaryFolder;
let started: ChildProcess[] = [];
let managerUrl = '';
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  await Promise.all(started.map(ended));
  started = [];
  folder.remove();
});

const data = () => path.join(folder.path, 'data');
const put = (file: string, text: string) => {
  mkdirSync(path.dirname(path.join(data(), file)), { recursive: true, mode: 0o700 });
  writeFileSync(path.join(data(), file), text, { mode: 0o600 });
};

function run(program: string, args: string[], env: Record<string, string>): ChildProcess {
  const child = spawn(program, args, {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  started.push(child);
  return child;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await exit;
}

/** A process with secrets in its environment, started as `svc up` starts the core. */
function startCore(): number {
  const core = run(process.execPath, ['--disable-sigusr1', '-e', 'setInterval(() => 0, 1e6)'], {
    CORE_TOKEN: 'canary-of-the-core',
  });
  return core.pid ?? 0;
}

async function startManager(): Promise<void> {
  const [port = 0] = await freePorts(1);
  managerUrl = `http://127.0.0.1:${port}`;
  const manager = run(process.execPath, ['--disable-sigusr1', path.join(fixtures, 'kit-main.ts')], {
    SVC_DATA_DIR: data(),
    SVC_MANAGER_PORT: String(port),
    SVC_COMPAT_PORT: '0',
    SVC_LOG_LEVEL: 'error',
    SVC_MANAGER_TOKEN: 'canary-manager-token',
    SVC_VAULT_ADMIN_KEY: 'canary-of-the-vault',
    OTHER_SECRET: 'canary-of-another',
    NODE_COMPILE_CACHE: compiled.path,
    TEST_HOUSE: path.join(folder.path, 'house'),
  });
  await new Promise((resolve) => manager.once('message', resolve));
}

async function call<T>(method: string, url: string, body?: object): Promise<T> {
  const token = new Secret('canary-manager-token');
  return (await requestJson<T>(managerUrl + url, { method, body, token, timeoutMs: 15_000 })).body;
}

async function startHostile(core: number): Promise<Report> {
  const config = { token_secret: 'OWN_SECRET', data: data(), core, cache: compiled.path };
  const { instance } = await call<{ instance: Instance }>('POST', '/instances', {
    type: 'hostile',
    name: 'h',
    enabled: true,
    config,
  });
  expect(instance.last_exit?.reason ?? '').toBe('');
  const file = path.join(data(), 'instances', instance.id, 'report.json');
  await eventually(
    () => existsSync(file),
    (isThere) => isThere,
  );
  return JSON.parse(readFileSync(file, 'utf8')) as Report;
}

const hostile = path.join(fixtures, 'hostile');
/** The same code in each of the three places that connectors come from. */
const places: [string, () => void][] = [
  ['of this repository', () => cpSync(hostile, path.join(folder.path, 'house/connectors/hostile'), { recursive: true })],
  ['in the data folder', () => cpSync(hostile, path.join(data(), 'connectors/hostile'), { recursive: true })],
  [
    'that npm installed',
    () => {
      const installed = path.join(data(), 'connectors/.npm/node_modules/svc-connector-hostile');
      cpSync(hostile, installed, { recursive: true });
      symlinkSync(installed, path.join(data(), 'connectors/hostile'));
    },
  ],
];

describe('[M08] a hostile connector', () => {
  beforeEach(() => {
    const manifest = '{"name":"svc-connector-hostile","type":"module","exports":"./index.js"}';
    put('secrets.json', '{"OWN_SECRET":"its-own-secret","OTHER_SECRET":"canary-of-another"}');
    put('instances/other/keys.json', '{"keys":["canary-key-of-another"]}');
    put('logs/instance-other.log', 'canary-log');
    mkdirSync(path.join(data(), 'connectors'), { mode: 0o700 });
    writeFileSync(path.join(folder.path, 'package.json'), manifest);
  });

  test.each(places)('%s gets its own secret and no other', async (_, install) => {
    install();
    const core = startCore();
    await startManager();
    const { 'its own secret': own, 'its own folder': files, 'its own state': state, ...report } = await startHostile(core);
    expect([own, files, state]).toEqual([{ got: 'its-own-secret' }, { got: 'minekept' }, { got: 7 }]);
    expect(JSON.stringify(report)).not.toContain('canary');
    const { 'its environment': environment, 'its open files': opened, 'the secret of another': asked, ...attempts } = report;
    expect(environment?.got).not.toMatch(/SVC_(?!LOG_LEVEL)/);
    expect(opened).toEqual({ got: '' });
    expect(asked?.refused).toContain('does not name the secret');
    const open = Object.entries(attempts).filter(([, { refused }]) => refused === undefined || !refusals.test(refused));
    expect(open).toEqual([]);
    expect(await isOpen(debuggerPort)).toBe(false);
    expect(readFileSync(path.join(data(), 'secrets.json'), 'utf8')).toContain('canary');
  });

  test('could read a lot without confinement', () => {
    const env = { PATH: process.env['PATH'], TOKEN: 'canary-of-the-parent' };
    const script = `const { attempts } = await import('${hostile}/index.js');
      const table = attempts({ data: '${data()}', cache: '${data()}', pids: { parent: process.ppid } });
      const names = ['the secrets file', 'the state of another', 'a program', 'the list of processes', 'the environ of the parent'];
      for (const name of names) console.log(name, String(table[name]()).length > 10);`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { env, encoding: 'utf8' });
    expect(stdout.match(/ true$/gm)).toHaveLength(5);
  });

  test('is not started when its folder contains a link to a file of others', async () => {
    places[1]?.[1]();
    const deep = path.join(data(), 'connectors/hostile/some/where');
    mkdirSync(deep, { recursive: true });
    await startManager();
    const config = { data: data(), cache: compiled.path };
    await call('POST', '/instances', { type: 'hostile', name: 'h', config });
    // A file of the service, a place that is not there yet, and the folder of another.
    for (const target of ['../../secrets.json', '/proc/4194303/environ', '../../instances/other']) {
      const link = path.join(deep, 'way-out');
      symlinkSync(path.resolve(data(), 'connectors/hostile', target), link);
      const { instance } = await call<{ instance: Instance }>('POST', '/instances/hostile/start');
      expect([target, instance]).toMatchObject([
        target,
        { status: 'failed', pid: null, last_exit: { reason: expect.stringContaining('which a connector may not read') } },
      ]);
      rmSync(link);
    }
  });
});
