import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { workedMs } from '@svc/testing/worked-ms.ts';
import { pickEnv, crashLimit, type ChildSpec } from '../src/child-spec.ts';
import { createSupervisedChild, type SupervisedChild, type SupervisedChildOptions } from '../src/supervised-child.ts';
import { isAlive, signalProcess } from '@svc/service-kit/process/signal-process.ts';
import { until } from '@svc/testing/until.ts';

const started: SupervisedChild[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((child) => child.stop()));
});

function supervise(fixture: string, over: Partial<ChildSpec> = {}, options: SupervisedChildOptions = {}): SupervisedChild {
  const entry = path.join(import.meta.dirname, 'fixtures', `${fixture}.ts`);
  const spec = { name: fixture, entry, env: pickEnv(process.env), startTimeoutMs: 20_000, stopTimeoutMs: 5000, ...over };
  const child = createSupervisedChild(spec, options);
  started.push(child);
  return child;
}

describe('supervised process', () => {
  test('runs once it reports ready, receives messages, and exits on stop', async () => {
    const messages: unknown[] = [];
    const child = supervise(
      'ready',
      { greeting: () => ({ type: 'hello', n: 1 }) },
      { onMessage: (message) => messages.push(message) },
    );
    const state = await child.start();
    expect(state.status).toBe('running');
    await until(() => messages.length === 1);
    expect(messages).toEqual([{ type: 'echo', message: { type: 'hello', n: 1 } }]);
    await child.stop();
    expect(child.state).toMatchObject({ status: 'stopped', lastExit: { code: 0, reason: 'was asked to stop' } });
    expect(isAlive(state.pid!)).toBe(false);
  });

  test('gets the environment of its spec and nothing from its parent', async () => {
    process.env['SVC_CANARY_TOKEN'] = 'do not inherit';
    const child = supervise('ready', { env: { PATH: '/bin', WORD: 'x' } });
    const { ready } = await child.start();
    delete process.env['SVC_CANARY_TOKEN'];
    const names = Object.keys(ready?.['env'] as object).filter((name) => !name.startsWith('NODE_CHANNEL'));
    expect(names.sort()).toEqual(['PATH', 'WORD']);
  });

  test('restarts at once after kill -9', async () => {
    const child = supervise('ready');
    const before = await child.start();
    signalProcess(before.pid!, 'SIGKILL');
    const killedAt = Date.now();
    await until(() => child.state.pid !== before.pid && child.state.status === 'running');
    expect(Date.now() - killedAt).toBeLessThan(20_000);
    expect(child.state).toMatchObject({ restarts: 1, lastExit: { signal: 'SIGKILL', reason: 'was ended by SIGKILL' } });
  });

  test('fails after repeated crashes, and leaves no descriptor open', async () => {
    const child = supervise('crash', { giveUp: () => crashLimit });
    const descriptors = () => readdirSync('/proc/self/fd').length;
    const before = process.platform === 'linux' ? descriptors() : 0;
    void child.start();
    await until(() => child.state.status === 'failed');
    expect(child.state.restarts).toBe(5);
    expect(child.state.lastExit?.reason).toBe('ended with exit code 1: Error: no luck today (gave up after 6 exits within 60 s)');
    expect(child.logs().some((line) => line.text === 'Error: no luck today')).toBe(true);
    if (process.platform === 'linux') await until(() => descriptors() <= before + 2);
  });

  test('is killed with its descendants when it ignores SIGTERM', async () => {
    const child = supervise('deaf', { stopTimeoutMs: 200 });
    const state = await child.start();
    const program = Number(state.ready?.['program']);
    expect(isAlive(program)).toBe(true);
    await child.stop();
    expect(child.state.lastExit?.signal).toBe('SIGKILL');
    expect(isAlive(state.pid!)).toBe(false);
    await until(() => !isAlive(program));
  });

  test('leaves none of its programs running when it exits by itself', async () => {
    const child = supervise('leaver');
    const state = await child.start();
    const program = Number(state.ready?.['program']);
    child.send({ type: 'end' });
    await until(() => child.state.lastExit?.code === 3);
    await until(() => !isAlive(program));
  });

  test('may print without end: the log stays bounded and the parent responsive', async () => {
    const child = supervise('flood');
    await child.start();
    let longest = 0;
    let last = workedMs();
    const timer = setInterval(() => {
      longest = Math.max(longest, workedMs() - last);
      last = workedMs();
    }, 5);
    await until(() => child.logs().at(-1)?.text === 'last word');
    clearInterval(timer);
    expect(child.logs()).toHaveLength(500);
    expect(longest).toBeLessThan(250);
  });

  test('is killed when it does not report ready in time', async () => {
    const child = supervise('silent', { startTimeoutMs: 500 });
    const state = await child.start();
    expect(state).toMatchObject({ status: 'backoff', pid: null, lastExit: { reason: 'was not ready within 0.5 s' } });
  });

  test('is retried when it cannot be spawned', async () => {
    const child = supervise('ready', { cwd: '/nowhere/at/all' });
    const state = await child.start();
    expect(state).toMatchObject({ status: 'backoff', pid: null });
    expect(state.lastExit?.reason).toContain('could not be started');
  });

  test('exits when its parent is killed with SIGKILL', async () => {
    const parent = fork(path.join(import.meta.dirname, 'fixtures/parent.ts'), { execArgv: [], env: pickEnv(process.env) });
    const [{ pid }] = (await once(parent, 'message')) as [{ pid: number }];
    expect(isAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    await until(() => !isAlive(pid));
  });
});
