import { fork, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import path from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { createControl } from '../src/control/create-control.ts';
import { ownProcess, readProcess, type ProcessFacts } from '../src/control/process-facts.ts';
import type { SessionHost } from '../src/terminal/session-hosts.ts';
import type { TranscriptRow } from '../src/transcript/transcript-row.ts';
import { createRemoteUsers } from '@svc/service-kit/http/remote-users.ts';
import { birthMark } from '@svc/service-kit/process/birth-mark.ts';
import { endProcess } from '../src/control/end-process.ts';
import { openTestCollector } from './open-test-collector.ts';
import { controlToken, openTestControl, readToken, type TestControl } from './open-test-control.ts';

let control: TestControl;
beforeEach(async () => {
  control = await openTestControl({
    plain: {},
    screen: { multiplexer: 'screen', tmux_target: 'a' },
    half: { multiplexer: 'tmux' },
    busy: {},
  });
});
afterEach(() => control.close());

const session = { session_id: 'plain' };
const routes: ['GET' | 'POST', string, object?][] = [
  ['POST', '/api/control/kill', session],
  ['POST', '/api/control/stop', session],
  ['POST', '/api/control/send-keys', { ...session, text: 'x' }],
  ['GET', '/api/control/diff?session_id=plain'],
  ['POST', '/api/control/restart-daemon', { target: 'core' }],
];

test.each(routes)('%s %s accepts only the control token', async (method, url, body) => {
  for (const authorization of ['', 'Bearer wrong', `Bearer ${readToken}`, controlToken])
    expect((await control.send(method, url, body, { authorization })).status).toBe(401);
  expect(await control.audit()).toEqual([]);
  expect((await control.send(method, url, body)).status).not.toBe(401);
  expect(await control.audit()).toHaveLength(1);
});

test.each(['normal', 'full'])('a control action leaves the durability of the database at %s', async (durability) => {
  const collector = openTestCollector({ SVC_DURABILITY: durability, SVC_CORE_PORT: '2', SVC_MANAGER_PORT: '1' });
  const level = () => collector.context.db.raw.prepare('PRAGMA synchronous').get();
  const before = level();
  await collector.app.inject({ method: 'POST', url: '/api/control/restart-daemon', payload: { target: 'nothing' } });
  expect(await collector.read('/api/control/audit')).toMatchObject({ actions: [{ outcome: 'failed' }] });
  expect(level()).toEqual(before);
  await collector.close();
});

test.each(['/api/control/audit', '/api/events', '/api/search?q=x', '/api/system', '/api/stream'])(
  '%s does not accept the control token',
  async (url) => {
    expect((await control.send('GET', url)).status).toBe(401);
  },
);

test('stop is sent to the core, and is in the audit with its outcome', async () => {
  const published: unknown[] = [];
  control.collector.context.hub.subscribe((item) => published.push(item));
  const { status, body } = await control.post('stop', { session_id: 'busy' });
  expect(status).toBe(200);
  expect(body).toEqual({ ok: true, audit_id: expect.any(String), action: 'stop', target: 'busy' });
  expect(control.calls).toEqual(['POST /v2/abort {"conversation_key":"busy"}']);
  const [row] = await control.audit();
  expect(row).toMatchObject({
    id: body['audit_id'],
    actor: 'local',
    action: 'stop',
    target: 'busy',
    outcome: 'done',
    error: null,
  });
  expect(published).toEqual([{ name: 'control', data: row }]);
});

test('kill ends the turn of a session without a process, and says so', async () => {
  const { status, body } = await control.post('kill', { session_id: 'busy' });
  expect([status, body]).toEqual([
    200,
    { ok: true, audit_id: expect.any(String), action: 'kill', target: 'busy', ended: 'turn', pid: null },
  ]);
  expect(control.calls).toEqual(['GET /v2/session/busy', 'POST /v2/abort {"conversation_key":"busy"}']);
  expect(await control.audit()).toMatchObject([{ action: 'kill', target: 'busy', outcome: 'done' }]);
});

test('kill is refused for a session in which nothing runs', async () => {
  expect((await control.post('kill', { session_id: 'plain' })).status).toBe(409);
  expect(await control.audit()).toMatchObject([
    { action: 'kill', outcome: 'refused', error: expect.stringContaining('no turn') },
  ]);
});

test.each(['kill', 'stop', 'send-keys'])('%s is not done when it cannot be recorded in the audit', async (action) => {
  control.collector.context.db.raw.exec(
    "CREATE TRIGGER full BEFORE INSERT ON control_audit BEGIN SELECT RAISE(ABORT, 'disk full'); END",
  );
  const body = { session_id: 'busy', ...(action === 'send-keys' && { text: 'x' }) };
  expect((await control.post(action, body)).status).toBe(503);
  expect(control.calls).toEqual([]);
});

test('an outcome that cannot be recorded leaves the row of the audit pending', async () => {
  control.collector.context.db.raw.exec(
    "CREATE TRIGGER full BEFORE UPDATE ON control_audit BEGIN SELECT RAISE(ABORT, 'disk full'); END",
  );
  expect((await control.post('stop', { session_id: 'busy' })).status).toBe(200);
  expect(await control.audit()).toMatchObject([{ outcome: 'pending', finished_at: null }]);
});

test('the audit records a refusal with its reason', async () => {
  expect((await control.post('stop', { session_id: 'idle' })).status).toBe(404);
  expect((await control.post('kill', { session_id: 'unknown' })).status).toBe(404);
  const rows = await control.audit();
  expect(rows.map(({ action, outcome }) => [action, outcome])).toEqual([
    ['kill', 'refused'],
    ['stop', 'refused'],
  ]);
  expect(rows[0]?.error).toContain('unknown');
});

test.each(['plain', 'screen', 'half'])('send-keys is refused for a session without a tmux terminal (%s)', async (session_id) => {
  expect((await control.post('send-keys', { session_id, text: 'x' })).status).toBe(409);
  expect(await control.audit()).toMatchObject([{ action: 'send-keys', target: session_id, outcome: 'refused' }]);
});

test('the audit does not contain typed text', async () => {
  await control.post('send-keys', { ...session, text: 'hunter2', enter: true });
  const [row] = await control.audit();
  expect(row?.details).toEqual({ keys: null, characters: 7, enter: true });
});

test.each([
  [{}],
  [{ text: 'a', keys: 'Enter' }],
  [{ keys: 'Enter', enter: true }],
  [{ keys: ';' }],
  [{ keys: 'Enter;' }],
  [{ keys: 'hi' }],
  [{ keys: ['a', ';', 'run-shell', 'x'] }],
  [{ keys: 'C-c ; run-shell x' }],
  [{ keys: '-R' }],
  [{ text: 'a\nb' }],
  [{ text: 'a\u0003' }],
  [{ text: '\u001b[201~' }],
  [{ text: 'a\u0000' }],
  [{ text: 5 }],
  [{ text: 'a', more: 1 }],
])('send-keys refuses %j', async (body) => {
  expect((await control.post('send-keys', { ...session, ...body })).status).toBe(400);
});

test('the actor is the user that the proxy names with a valid proof, otherwise local', async () => {
  const proven = await openTestControl({ busy: {} }, { remoteUsers: createRemoteUsers('s'.repeat(43)) });
  const stop = (headers: Record<string, string>) => proven.post('stop', { session_id: 'busy' }, headers);
  await stop(createRemoteUsers('s'.repeat(43)).headersFor('anna'));
  await stop({ 'remote-user': 'anna' });
  await stop(createRemoteUsers('x'.repeat(43)).headersFor('anna'));
  expect((await proven.audit()).map(({ actor }) => actor).toReversed()).toEqual(['anna', 'local', 'local']);
  await proven.close();
});

const facts = (pid: number, more: Partial<ProcessFacts> = {}): ProcessFacts => ({
  pid,
  parent: 500,
  user: process.getuid?.() ?? 0,
  startedAt: 'then',
  ...more,
});

test.each([
  ['the first process of the machine', 1, 500, facts(1)],
  ['no process', 0, 500, facts(0)],
  ['a group', -5, 500, facts(-5)],
  ['nothing that can be read', Number.NaN, 500, null],
  ['this process', process.pid, 500, facts(process.pid)],
  ['the one that started this process', process.ppid, 500, facts(process.ppid)],
  ['a process that is gone', 700, 500, null],
  ["another process's child", 700, 500, facts(700, { parent: 501 })],
  ["another user's process", 700, 500, facts(700, { user: 12_345 })],
  ['an orphan', 700, 1, facts(700, { parent: 1 })],
])('refuses to end %s', async (_name, pid, parent, found) => {
  await expect(ownProcess(pid, parent, async () => found)).rejects.toMatchObject({ status: 409 });
});

test('kill ends a program whose parent has ended, as after its terminal was closed', async () => {
  const shell = spawn('sh', ['-c', 'sleep 600 >/dev/null 2>&1 & echo $!'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [[said]] = (await Promise.all([once(shell.stdout, 'data'), once(shell, 'exit')])) as [[Buffer], unknown];
  const pid = Number(String(said));
  onTestFinished(() => void spawnSync('kill', ['-9', String(pid)]));
  const found = await readProcess(pid);
  const host = { ...found, pane: null, workers: [] } as unknown as SessionHost;
  const { context } = control.collector;
  const { kill } = createControl({
    ...context,
    hosts: { ...context.hosts, current: async () => new Map([['terminal:claude:x', host]]) },
    transcriptStore: { ...context.transcriptStore, ofSessions: async () => [{ is_core: 0, cwd: null } as TranscriptRow] },
  });
  expect(await kill('terminal:claude:x', true)).toEqual({ ended: 'process', pid });
  expect(await readProcess(pid)).toBeNull();
});

test('a process whose pid was reused gets no signal', async () => {
  const signals: string[] = [];
  const signal = (_pid: number, name: string) => void signals.push(name);
  const later = async () => facts(700, { startedAt: 'later' });
  expect(await endProcess(facts(700), {}, { read: later, signal, lookMs: 1 })).toBe(true);
  expect(signals).toEqual([]);
  let looks = 0;
  const replaced = async () => facts(700, { startedAt: looks++ < 2 ? 'then' : 'later' });
  expect(await endProcess(facts(700), { patienceMs: 20 }, { read: replaced, signal, lookMs: 1 })).toBe(true);
  expect(signals).toEqual(['SIGTERM']);
});

test('a process that ignores SIGTERM is killed', async () => {
  const signals: string[] = [];
  const signal = (_pid: number, name: string) => void signals.push(name);
  const read = async () => (signals.includes('SIGKILL') ? null : facts(700));
  expect(await endProcess(facts(700), { patienceMs: 5 }, { read, signal, lookMs: 1 })).toBe(true);
  expect(await endProcess(facts(701), { hard: true, patienceMs: 5 }, { read: async () => facts(701), signal, lookMs: 1 })).toBe(
    false,
  );
  expect(signals).toEqual(['SIGTERM', 'SIGKILL', 'SIGKILL']);
});

const supervisorFile = (pid: number, services: { name: string; pid: number | null }[], more: object = {}) => {
  const run = path.join(control.collector.dataDir, 'run');
  mkdirSync(run, { recursive: true });
  writeFileSync(path.join(run, 'supervisor.json'), JSON.stringify({ pid, services, ...more }));
};

test('restart-daemon ends a host process only if it is a child of its supervisor', async () => {
  const child: ChildProcess = fork(path.join(import.meta.dirname, 'fixtures/idle.ts'));
  const ended = once(child, 'exit');
  await once(child, 'message');
  supervisorFile(process.pid + 1, [{ name: 'core', pid: child.pid ?? 0 }]);
  expect((await control.post('restart-daemon', { target: 'core' })).status).toBe(409);
  supervisorFile(process.pid, [{ name: 'core', pid: child.pid ?? 0 }]);
  expect((await control.post('restart-daemon', { target: 'core' })).status).toBe(200);
  expect(await ended).toEqual([null, 'SIGTERM']);
  supervisorFile(process.pid, [{ name: 'core', pid: null }]);
  expect((await control.post('restart-daemon', { target: 'core' })).status).toBe(409);
});

test('restart-daemon for * signals the supervisor only if the file means that process and it can restart', async () => {
  const supervisor: ChildProcess = fork(path.join(import.meta.dirname, 'fixtures/idle.ts'));
  const ended = once(supervisor, 'exit');
  await once(supervisor, 'message');
  const pid = supervisor.pid ?? 0;
  const born = birthMark(pid);
  const restart = async () => (await control.post('restart-daemon', { target: '*' })).status;
  for (const more of [{}, { born }, { starts_again: true }, { starts_again: true, born: 'another time' }]) {
    supervisorFile(pid, [], more);
    expect(await restart()).toBe(409);
  }
  supervisorFile(pid, [], { starts_again: true, born });
  expect(await restart()).toBe(200);
  expect(await ended).toEqual([null, 'SIGUSR2']);
  expect((await control.audit())[0]).toMatchObject({ action: 'restart-daemon', target: '*', outcome: 'done' });
  expect(await restart()).toBe(409);
});

test.each(['../x', 'a b', '$(x)'])('restart-daemon fails for a name that is neither host nor instance (%s)', async (target) => {
  supervisorFile(process.pid, []);
  // There is no manager here.
  expect((await control.post('restart-daemon', { target })).status).toBe(503);
  expect(await control.audit()).toMatchObject([{ target, outcome: 'failed' }]);
});
