import { expect, test } from 'vitest';
import { startLineProcess } from './line-process.ts';
import { isAlive } from '@svc/service-kit/process/signal-process.ts';

const start = (script: string, onMessage: (message: Record<string, unknown>) => void = () => {}) =>
  startLineProcess({
    command: process.execPath,
    args: ['-e', script],
    env: { PATH: process.env.PATH ?? '' },
    cwd: process.cwd(),
    onMessage,
    maxLine: 1000,
    stopTimes: { politeMs: 50, termMs: 50 },
  });

test('sends and receives one JSON object per line', async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const child = start("process.stdin.on('data', (d) => console.log(JSON.stringify({ got: JSON.parse(d) })))", resolve);
  child.send({ hello: 1 });
  expect(await promise).toEqual({ got: { hello: 1 } });
  await child.stop();
});

test('writes the input and closes stdin', async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const child = startLineProcess({
    command: process.execPath,
    args: [
      '-e',
      "process.stdin.setEncoding('utf8').reduce((a, b) => a + b, '').then((got) => console.log(JSON.stringify({ got })))",
    ],
    env: { PATH: process.env.PATH ?? '' },
    cwd: process.cwd(),
    input: 'hello',
    maxLine: 1000,
    onMessage: resolve,
  });
  expect(await promise).toEqual({ got: 'hello' });
  await child.stop();
});

test('reports a program that cannot be started as ended, without throwing', async () => {
  const child = startLineProcess({
    command: '/nowhere/x',
    args: [],
    env: {},
    cwd: process.cwd(),
    maxLine: 1000,
    onMessage: () => {},
  });
  child.send({ lost: true });
  expect((await child.ended).reason).toMatch(/could not be started|failed to execute/);
  await child.stop();
});

test('the reason of an end contains the end of stderr', async () => {
  const { reason, code } = await start("console.error('bad thing'); process.exitCode = 3").ended;
  expect(code).toBe(3);
  expect(reason).toContain('bad thing');
});

test('kills a process that ignores SIGTERM, together with its children', async () => {
  const { promise, resolve } = Promise.withResolvers<Record<string, unknown>>();
  const child = start(
    `process.on('SIGTERM', () => {});
     const c = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
     console.log(JSON.stringify({ pid: c.pid })); setInterval(() => {}, 1000)`,
    resolve,
  );
  const { pid } = await promise;
  await child.stop();
  expect((await child.ended).signal).toBe('SIGKILL');
  await expect.poll(() => isAlive(Number(pid))).toBe(false);
});

test.each(['stop', 'kill'] as const)('%s() marks a process as ending at once', async (how) => {
  const child = start('setInterval(() => {}, 1000)');
  expect(child.ending.aborted).toBe(false);
  const gone = child[how]();
  expect(child.ending.aborted).toBe(true);
  await gone;
});

test('marks a process as ending when it exits or writes a line that is too long', async () => {
  const ended = start('process.exit(0)');
  await ended.ended;
  const flooding = start("console.log('x'.repeat(2000)); setInterval(() => {}, 1000)");
  await new Promise((resolve) => flooding.ending.addEventListener('abort', resolve));
  expect([ended.ending.aborted, (await flooding.ended).overflow?.code]).toEqual([true, 'engine_output_too_large']);
});
