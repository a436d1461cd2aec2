import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { createLog } from '@svc/service-kit/log.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { says } from '@svc/testing/scripted-engine.ts';
import { createToolbeltProcess } from '../src/toolbelt/toolbelt-process.ts';
import { callTool, toolbeltOf } from './call-tool.ts';
import { envelope, openTestCore } from './open-test-core.ts';
import { isAlive, signalProcess } from '@svc/service-kit/process/signal-process.ts';

const fixtures = path.join(import.meta.dirname, 'fixtures');

function open({ clock = systemClock, entry }: { clock?: Clock; entry?: string } = {}) {
  let inUse = false;
  let idleStops = 0;
  const toolbelt = createToolbeltProcess({
    root: repositoryRoot,
    env: { PATH: process.env['PATH'] },
    coreUrl: 'http://127.0.0.1:9',
    version: '1',
    deviceCallMs: 1000,
    clock,
    log: createLog('test', 'silent'),
    isInUse: () => inUse,
    onIdleStop: () => idleStops++,
    ...(entry !== undefined && { entry }),
  });
  onTestFinished(() => toolbelt.close());
  return { toolbelt, use: (is: boolean) => (inUse = is), idleStops: () => idleStops };
}

function pidOf({ state }: { state(): { pid: number | null } }): number {
  const { pid } = state();
  if (pid === null) throw new Error('the toolbelt has no process');
  return pid;
}

test('starts on first use, once even for concurrent requests', async () => {
  const { toolbelt } = open();
  expect(toolbelt.state().status).toBe('stopped');
  const urls = await Promise.all([toolbelt.url(), toolbelt.url(), toolbelt.url()]);
  expect(new Set(urls).size).toBe(1);
  expect(toolbelt.state()).toMatchObject({ status: 'running', restarts: 0 });
});

test('restarts at the same address after a kill', async () => {
  const { toolbelt } = open();
  const url = await toolbelt.url();
  const pid = pidOf(toolbelt);
  signalProcess(pid, 'SIGKILL');
  await expect.poll(() => toolbelt.state().pid).not.toBe(pid);
  expect(await toolbelt.url()).toBe(url);
});

test('stops after ten minutes without use, and restarts on demand', async () => {
  const clock = createFakeClock();
  const { toolbelt, use, idleStops } = open({ clock });
  await toolbelt.url();
  use(true);
  clock.advance(60 * 60_000);
  expect([toolbelt.state().status, idleStops()]).toEqual(['running', 0]);
  use(false);
  await toolbelt.url();
  clock.advance(9 * 60_000);
  expect(idleStops()).toBe(0);
  clock.advance(11 * 60_000);
  expect(idleStops()).toBe(1);
  await expect.poll(() => toolbelt.state().status).toBe('stopped');
  await toolbelt.url();
  expect(toolbelt.state().status).toBe('running');
});

test('fails with the reason when it cannot start, without a retry in every turn', async () => {
  const { toolbelt } = open({ entry: path.join(fixtures, 'toolbelt-crash.ts') });
  await expect(toolbelt.url()).rejects.toThrow(/it cannot start here/);
  const { lastExit } = toolbelt.state();
  await expect(toolbelt.url()).rejects.toThrow(/it cannot start here/);
  expect(toolbelt.state().lastExit).toBe(lastExit);
});

test('stays stopped once closed', async () => {
  const { toolbelt } = open();
  await toolbelt.url();
  const pid = pidOf(toolbelt);
  await toolbelt.close();
  expect(isAlive(pid)).toBe(false);
  await expect(toolbelt.url()).rejects.toThrow('the service is stopping');
});

test('does not restart when it is closed while an idle stop and a new request overlap', async () => {
  const clock = createFakeClock();
  const { toolbelt, idleStops } = open({ clock });
  await toolbelt.url();
  clock.advance(21 * 60_000);
  expect(idleStops()).toBe(1);
  const wanted = toolbelt.url();
  await Promise.all([toolbelt.close(), expect(wanted).rejects.toThrow('the service is stopping')]);
  expect(toolbelt.state().status).toBe('stopped');
});

test('exits when its owner is killed', async () => {
  const owner = fork(path.join(fixtures, 'toolbelt-owner.ts'), [], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [{ pid }] = (await once(owner, 'message')) as [{ pid: number }];
  expect(isAlive(pid)).toBe(true);
  owner.kill('SIGKILL');
  await expect.poll(() => isAlive(pid)).toBe(false);
});

test('works again for the next call of a turn after a kill', async () => {
  const [port] = await freePorts(1);
  const core = await openTestCore({ toolbelt: true, env: { SVC_CORE_PORT: String(port), PATH: process.env['PATH'] ?? '' } });
  onTestFinished(() => core.close());
  await core.app.listen({ host: '127.0.0.1', port });
  const { process: toolbelt } = core.context.toolbelt;
  if (toolbelt === null) throw new Error('this core has no toolbelt');
  core.engine.script(async function* (request) {
    const server = toolbeltOf(request);
    expect((await callTool(server, 'svc_sessions')).ok).toBe(true);
    const pid = pidOf(toolbelt);
    signalProcess(pid, 'SIGKILL');
    await expect(callTool(server, 'svc_sessions')).rejects.toThrow();
    const again = async () => (await callTool(server, 'svc_sessions').catch(() => null))?.ok;
    await expect.poll(again).toBe(true);
    expect(pidOf(toolbelt)).not.toBe(pid);
    yield* says('survived');
  });
  expect((await core.handle(envelope('go'))).json()).toMatchObject({ actions: [{ text: 'survived' }] });
});

test('is not started for a guest or for a message that needs no tools', async () => {
  const core = await openTestCore({ toolbelt: true, env: { PATH: process.env['PATH'] ?? '' } });
  onTestFinished(() => core.close());
  await core.addPrincipal('gus', 'guest');
  await core.handle(envelope('hi', { sender: { raw_id: 'gus', raw_username: 'gus' } }));
  core.engine.usesTools = (text) => text !== 'plain';
  await core.handle(envelope('plain'));
  expect(core.engine.requests).toMatchObject([{ toolServers: [] }, { toolServers: [] }]);
  expect(core.context.toolbelt.process?.state().status).toBe('stopped');
  await core.handle(envelope('with tools'));
  expect(core.engine.requests.at(-1)).toMatchObject({ toolServers: [{ name: 'svc-toolbelt' }] });
});
