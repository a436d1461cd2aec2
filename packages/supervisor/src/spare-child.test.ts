import { expect, test } from 'vitest';
import { standByVariable } from '@svc/service-kit/stand-by.ts';
import type { ChildSpec } from './child-spec.ts';
import { startSpare } from './spare-child.ts';
import type { ChildListener, Spawn } from './spawn-child.ts';

const spec: ChildSpec = { name: 'core', entry: 'core.ts', env: { A: '1' }, startTimeoutMs: 1, stopTimeoutMs: 1 };
const deaf: ChildListener = { onMessage: () => undefined, onOutput: () => undefined, onExit: () => undefined };

/** Fake processes. */
function playProcesses() {
  const started: { env: Record<string, string>; listener: ChildListener; sent: unknown[]; isKilled: boolean }[] = [];
  const spawn: Spawn = ({ env }, listener) => {
    const process = { env, listener, sent: [] as unknown[], isKilled: false };
    started.push(process);
    return {
      pid: started.length,
      send: (message) => process.sent.push(message) > 0,
      terminate: () => undefined,
      killGroup: () => void (process.isKilled = true),
    };
  };
  return { started, spawn };
}

test('takes the prepared spare process with its earlier output once, then starts new ones', async () => {
  const { started, spawn } = playProcesses();
  const spare = startSpare(spec, spawn);
  started[0]?.listener.onOutput('stdout', Buffer.from('loading'));
  started[0]?.listener.onMessage({ type: 'prepared' });
  await spare.prepared;
  expect(started[0]).toMatchObject({ env: { A: '1', [standByVariable]: '1' }, sent: [] });
  const heard: unknown[] = [];
  const taken = spare.spawn(spec, {
    ...deaf,
    onMessage: (message) => heard.push(message),
    onOutput: (_, chunk) => heard.push(String(chunk)),
  });
  started[0]?.listener.onMessage({ type: 'ready' });
  expect([taken.pid, started[0]?.sent, heard]).toEqual([1, [{ type: 'go' }], ['loading', { type: 'ready' }]]);
  expect(spare.spawn(spec, deaf).pid).toBe(2);
  expect(started[1]?.env).toEqual({ A: '1' });
  spare.end();
  expect(started[0]?.isKilled, 'who has taken it ends it').toBe(false);
});

test('replaces a spare process that has ended, and ends one that was not used', async () => {
  const { started, spawn } = playProcesses();
  const spare = startSpare(spec, spawn);
  started[0]?.listener.onExit({ code: 1, signal: null, error: null });
  await spare.prepared;
  expect(spare.spawn(spec, deaf).pid).toBe(2);
  startSpare(spec, spawn).end();
  expect(started[2]?.isKilled).toBe(true);
});
