import { readdirSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { testUnless, whyNotLinux } from '@svc/testing/skip-note.ts';
import { until } from '@svc/testing/until.ts';
import { channelLimits } from '../src/child-channel.ts';
import { pickEnv } from '../src/child-spec.ts';
import { createSupervisedChild, type SupervisedChild } from '../src/supervised-child.ts';

let child: SupervisedChild;
let heard: unknown[] = [];
afterEach(() => child.stop());

async function start(how: string): Promise<void> {
  heard = [];
  child = createSupervisedChild(
    {
      name: 'rude',
      entry: path.join(import.meta.dirname, 'fixtures/rude.ts'),
      env: pickEnv(process.env),
      startTimeoutMs: 20_000,
      stopTimeoutMs: 5000,
    },
    { onMessage: (message) => heard.push(message) },
  );
  await child.start();
  child.send({ type: 'be rude', how });
}

describe('[M08] child that misuses the channel to its parent', () => {
  test.each([
    ['no JSON', 'is not JSON'],
    ['no end', 'is longer than 1048576 characters'],
  ])('is killed with the reason for a message that has %s, and its parent keeps running', async (how, why) => {
    await start(how);
    await until(() => child.state.lastExit !== null);
    expect(child.state.lastExit).toMatchObject({
      signal: 'SIGKILL',
      reason: `was ended by its parent: its message to its parent ${why}`,
    });
    expect(heard).toEqual([]);
  });

  test('is throttled to its message limit, with a line in its log, and can be stopped', async () => {
    await start('no pause');
    const since = Date.now();
    await until(() => child.logs().some(({ text }) => text.includes('sends its parent more messages than it can process')));
    const windows = (Date.now() - since) / channelLimits.perMs + 2;
    // The first chunk of a window is read completely; its excess delays the next ones.
    expect(heard.length).toBeLessThan((windows * channelLimits.budget) / channelLimits.messageCost + 5_000);
    expect(heard.length).toBeGreaterThan(1_000);
    await child.stop();
    expect(child.state.status).toBe('stopped');
  });

  testUnless(whyNotLinux())('cannot leave descriptors with its parent', async () => {
    const sockets = () => readdirSync('/proc/self/fd').length;
    await start('nothing');
    const before = sockets();
    child.send({ how: 'a handle' });
    await until(() => heard.length > 0);
    expect(sockets()).toBeLessThanOrEqual(before);
  });
});
