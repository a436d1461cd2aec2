import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { http } from '@svc/service-kit/builtin.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { birthMark } from '@svc/service-kit/process/birth-mark.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { examineServices } from '../src/doctor/examine-services.ts';
import { collectStatus, isAllWell, startsLater } from '../src/status/collect-status.ts';

const folder = temporaryFolder();
const notice = 'All together spent $17.20 this month, past the soft limit of $15.00.';
const core = http.createServer((request, response) => {
  const load = { active: 2, waiting: 1, deliveries: { pending: 3, failed: 4 } };
  const health = { status: 'ok', service: 'core', notices: [notice], ...load };
  const body = request.url === '/health' ? health : { version: '0.1.0' };
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(body));
});
/** Accepts connections and never answers. */
const deaf = createServer();
const portOf = async (server: typeof core | typeof deaf): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return String(typeof address === 'object' && address !== null ? address.port : 0);
};
/** Records this process as the supervisor of a data folder, and as the processes at these ports. */
function superviseHere(dataDir: string, hosts: readonly [name: string, port: string][]): void {
  mkdirSync(path.join(dataDir, 'run'), { recursive: true });
  const services = hosts.map(([name, port]) => ({ name, url: `http://127.0.0.1:${port}`, pid: process.pid, status: 'running' }));
  const state = {
    pid: process.pid,
    started_at: 0,
    services: services.map((service) => ({ ...service, last_lines: [] })),
    faults: [],
  };
  writeFileSync(dataPaths(dataDir).supervisorState, JSON.stringify(state));
}

let ports: string[];
beforeAll(async () => {
  ports = [await portOf(core), await portOf(deaf)];
});
afterAll(() => {
  core.closeAllConnections();
  core.close();
  deaf.close();
  folder.remove();
});

test('shows the notices of a healthy process, and gives one that does not answer a second', async () => {
  const [corePort = '', deafPort = ''] = ports;
  superviseHere(folder.path, [
    ['core', corePort],
    ['manager', deafPort],
  ]);
  const since = performance.now();
  const status = await collectStatus(
    loadSettings('/nowhere', {
      SVC_DATA_DIR: folder.path,
      SVC_CORE_PORT: corePort,
      SVC_MANAGER_PORT: deafPort,
      SVC_COLLECTOR_PORT: '1',
    }),
  );
  expect(performance.now() - since).toBeLessThan(20_000);
  expect(status.services[0]).toMatchObject({ name: 'core', healthy: true, notices: [notice] });
  expect(status.services[1]).toMatchObject({
    name: 'manager',
    healthy: false,
    reason: 'does not answer within 1 s',
    notices: [],
  });
  expect(isAllWell(status)).toBe(false);
  expect(status).toMatchObject({ turns: { running: 2, waiting: 1 }, deliveries: { pending: 3, failed: 4 } });
});

test('shows the version of a manager that requires its token', async () => {
  const guarded = http.createServer((request, response) => {
    const mayRead = request.url === '/health' || request.headers.authorization === `Bearer ${'t'.repeat(32)}`;
    response.writeHead(mayRead ? 200 : 401, { 'content-type': 'application/json' });
    response.end(JSON.stringify(request.url === '/health' ? { status: 'ok', service: 'manager' } : { version: '0.1.0' }));
  });
  const port = await portOf(guarded);
  const ports = { SVC_CORE_PORT: '1', SVC_MANAGER_PORT: port, SVC_COLLECTOR_PORT: '3' };
  superviseHere(folder.path, [['manager', port]]);
  const settings = loadSettings('/nowhere', { SVC_DATA_DIR: folder.path, SVC_MANAGER_TOKEN: 't'.repeat(32), ...ports });
  const manager = (await collectStatus(settings)).services.find(({ name }) => name === 'manager');
  guarded.closeAllConnections();
  guarded.close();
  expect(manager).toMatchObject({ healthy: true, version: '0.1.0' });
});

test('the doctor says that a vault set up while the service runs starts with the next start', async () => {
  const data = temporaryFolder();
  mkdirSync(path.join(data.path, 'run'), { recursive: true });
  const running = { pid: process.pid, started_at: Date.now(), services: [] };
  writeFileSync(dataPaths(data.path).supervisorState, JSON.stringify(running));
  const ports = { SVC_CORE_PORT: '1', SVC_MANAGER_PORT: '2', SVC_COLLECTOR_PORT: '3', SVC_VAULT_PORT: '4' };
  const settings = loadSettings('/nowhere', { SVC_DATA_DIR: data.path, SVC_VAULT_URL: 'http://127.0.0.1:4', ...ports });
  const status = await collectStatus(settings);
  expect(status.services.find(({ name }) => name === 'vault')).toMatchObject({ healthy: false, reason: startsLater });
  const found = await examineServices(settings, status);
  expect(found.find(({ name }) => name === 'vault')).toMatchObject({ fix: 'stop ./svc up and start it again' });
  data.remove();
});

test('the doctor says why a process is down, when it is tried again, and what starts it at once', async () => {
  const data = temporaryFolder();
  mkdirSync(path.join(data.path, 'run'), { recursive: true });
  const last_exit = { code: 1, signal: null, at: 0, reason: 'no luck' };
  const core = { name: 'core', url: 'http://127.0.0.1:1', pid: null, status: 'backoff', restarts: 7, failures: 7, last_exit };
  const waiting = { ...core, next_start_at: 12_000, last_lines: ['a last word'] };
  const state = { pid: process.pid, started_at: 0, services: [waiting], faults: ['the log of the core cannot be written'] };
  writeFileSync(dataPaths(data.path).supervisorState, JSON.stringify(state));
  const settings = loadSettings('/nowhere', { SVC_DATA_DIR: data.path, SVC_MANAGER_PORT: '2', SVC_COLLECTOR_PORT: '3' });
  const status = await collectStatus(settings);
  expect(status.services[0]).toMatchObject({ ...waiting, healthy: false, reason: 'backoff: no luck' });
  const instance = {
    id: 'm1',
    type: 'shop',
    name: 'shop',
    url: null,
    healthy: false,
    reason: 'bad token',
    next_start_at: null,
    fix: './svc connector restart m1',
  };
  const found = await examineServices(settings, { ...status, instances: [{ ...instance, status: 'failed' }] }, 2_000);
  expect(found).toContainEqual(expect.objectContaining({ name: 'supervisor', text: 'the log of the core cannot be written' }));
  expect(found.find(({ name }) => name === 'core')?.text).toBe('backoff: no luck; ended 7 times in a row; started again in 10 s');
  expect(found.find(({ name }) => name === 'instance')).toMatchObject({ fix: './svc connector restart m1' });
  data.remove();
});

test('without a core the numbers of turns and deliveries are null', async () => {
  const settings = { SVC_DATA_DIR: folder.path, SVC_CORE_PORT: '1', SVC_MANAGER_PORT: '2', SVC_COLLECTOR_PORT: '3' };
  expect(await collectStatus(loadSettings('/nowhere', settings))).toMatchObject({ turns: null, deliveries: null });
});

test('a process of another installation on our port is named, with the command that moves our port, and not trusted', async () => {
  const data = temporaryFolder();
  const [corePort = ''] = ports;
  const ours = { SVC_DATA_DIR: data.path, SVC_CORE_PORT: corePort, SVC_MANAGER_PORT: '2', SVC_COLLECTOR_PORT: '3' };
  const status = await collectStatus(loadSettings('/nowhere', ours));
  expect(status.services[0]).toMatchObject({ name: 'core', healthy: false, status: 'away', version: null, notices: [] });
  expect(status.services[0]?.reason).toContain(`process ${process.pid})`);
  expect(status.services[0]?.fix).toMatch(/^printf '\\nSVC_CORE_PORT=\d{4,5}\\n' >>\.env && \.\/svc up$/);
  expect(status).toMatchObject({ turns: null, deliveries: null, engine: null });
  expect(isAllWell(status)).toBe(false);
  data.remove();
});

test('a reused pid is not taken for the supervisor', async () => {
  const data = temporaryFolder();
  const settings = loadSettings('/nowhere', {
    SVC_DATA_DIR: data.path,
    SVC_CORE_PORT: '1',
    SVC_MANAGER_PORT: '2',
    SVC_COLLECTOR_PORT: '3',
  });
  superviseHere(data.path, []);
  const file = dataPaths(data.path).supervisorState;
  const state = JSON.parse(readFileSync(file, 'utf8')) as object;
  writeFileSync(file, JSON.stringify({ ...state, born: 'another boot:1' }));
  expect((await collectStatus(settings)).supervisor).toBeNull();
  writeFileSync(file, JSON.stringify({ ...state, born: birthMark(process.pid) }));
  expect((await collectStatus(settings)).supervisor).not.toBeNull();
  data.remove();
});

test.each([
  ['answers with something else', (socket: Socket) => void socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\nno')],
  ['says nothing', () => undefined],
])('names another program on the port of the core that %s', async (_, behave) => {
  const data = temporaryFolder();
  const sockets = new Set<Socket>();
  const other = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    behave(socket);
  });
  const settings = {
    SVC_DATA_DIR: data.path,
    SVC_CORE_PORT: await portOf(other),
    SVC_MANAGER_PORT: '2',
    SVC_COLLECTOR_PORT: '3',
  };
  const [found] = (await collectStatus(loadSettings('/nowhere', settings))).services;
  expect(found).toMatchObject({ name: 'core', healthy: false, reason: expect.stringContaining(`process ${process.pid})`) });
  expect(found?.fix).toContain('SVC_CORE_PORT=');
  for (const socket of sockets) socket.destroy();
  other.close();
  data.remove();
});
