import { spawnSync } from 'node:child_process';
import { describe, expect, onTestFinished, test } from 'vitest';
import { skipNote, testUnless, whyNotLinux } from '@svc/testing/skip-note.ts';
import { spawnOwned } from './owned-process.ts';
import { openCgroup } from './cgroup.ts';
import { childGone } from './process-group.ts';
import { isAlive, signalIfThere } from './signal-process.ts';

const env = { PATH: process.env['PATH'] };
const times = { politeMs: 20, termMs: 50 };

/** Starts a program of this script, and returns the pids that it prints. */
async function start(script: string) {
  const owned = spawnOwned(process.execPath, ['-e', script], { env });
  const { child } = owned;
  const line = new Promise<string>((resolve) => child.stdout.once('data', (data: Buffer) => resolve(data.toString())));
  const closed = new Promise((resolve) => child.once('close', resolve));
  const pids = [...(await line).matchAll(/\d+/g)].map(Number);
  onTestFinished(() => {
    for (const pid of pids) if (isAlive(pid)) signalIfThere(pid, 'SIGKILL');
  });
  return { owned, child, pids, closed };
}

const endsWithInput = "process.stdin.resume().on('end', () => process.exit(0));";
const deaf = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);`;
/** A grandchild that ignores SIGTERM and holds our pipes; `detached` puts it in its own session. */
const leave = (detached: boolean) => `
  const left = require('node:child_process').spawn(process.execPath,
    ['-e', ${JSON.stringify(`${deaf} console.log(process.pid)`)}], { detached: ${detached}, stdio: ['ignore', 'inherit', 'inherit'] });
  left.unref();`;

test('kills a program that ignores SIGTERM, together with its descendants', async () => {
  const { owned, child, pids } = await start(`${deaf} ${leave(false)}`);
  expect(await owned.end(times)).toBe(true);
  expect(child.signalCode).toBe('SIGKILL');
  await expect.poll(() => pids.filter(isAlive)).toEqual([]);
});

testUnless(whyNotLinux())('kills the processes that a program has put in a session of its own', async () => {
  const { owned, pids } = await start(`${deaf} ${leave(true)}`);
  await owned.kill();
  await expect.poll(() => pids.filter(isAlive)).toEqual([]);
});

testUnless(whyNotLinux())(
  'ends the processes that an exited program left behind, and does not let them hold its pipes open',
  async () => {
    const { child, pids, closed } = await start(`${leave(true)} ${endsWithInput}`);
    child.stdin.end();
    await childGone(child);
    await closed;
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
  },
);

testUnless(whyNotLinux())(
  'no process that a program left behind is running any more once the program has ended on request',
  async () => {
    const { owned, pids } = await start(`${leave(true)} ${endsWithInput}`);
    expect(await owned.end({ politeMs: 5000, termMs: 50 })).toBe(true);
    expect(pids.filter(isAlive)).toEqual([]);
  },
);

testUnless(whyNotLinux())(
  'kills a process in a session of its own with an empty environment along with the killed program',
  async () => {
    const script = `const left = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(`${deaf} console.log(process.pid)`)}],
    { detached: true, env: {}, stdio: ['ignore', 'inherit', 'inherit'] }); left.unref(); ${deaf}`;
    const { owned, pids } = await start(script);
    expect(pids).toHaveLength(1);
    await owned.kill();
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
  },
);

test('ends a program that has closed its stdout', async () => {
  const { owned, child } = await start(`${deaf} process.stdout.write('1', () => { require('node:fs').closeSync(1); });`);
  expect(await owned.end(times)).toBe(true);
  expect(child.signalCode).toBe('SIGKILL');
});

test('ends a program that is stopped by SIGSTOP', async () => {
  const { owned, child } = await start(`console.log(process.pid); ${deaf}`);
  child.kill('SIGSTOP');
  expect(await owned.end(times)).toBe(true);
});

test('end() resolves for a program that never started, and when called twice', async () => {
  const never = spawnOwned('/nowhere/x', [], { env });
  never.child.on('error', () => undefined);
  expect(await never.end(times)).toBe(true);
  const { owned } = await start('console.log(1); setInterval(() => {}, 1000)');
  expect(await Promise.all([owned.end(times), owned.end(times), owned.kill()])).toEqual([true, true, true]);
});

const trial = openCgroup();
const whyNotContained = trial === null ? 'no control group can be made here' : null;
await trial?.close();

/** A shell command that starts a program as detached from itself as possible, and continues. */
const escape = (seconds: number) => `(setsid env -i /bin/sh -c 'sleep ${seconds} &' > /dev/null 2>&1 &)`;
const sleeping = (seconds: number) =>
  spawnSync('pgrep', ['-fx', `sleep ${seconds}`], { encoding: 'utf8' })
    .stdout.split('\n')
    .filter(Boolean);

describe.skipIf(whyNotContained !== null)(`contained program${skipNote(whyNotContained)}`, () => {
  const contain = (script: string) => {
    const owned = spawnOwned('/bin/sh', ['-c', script], { env, contained: true });
    onTestFinished(async () => void (await owned.kill()));
    return owned;
  };

  test('ends with descendants that changed their session, parent and environment', async () => {
    const owned = contain(`${escape(4711)}; sleep 4710`);
    await expect.poll(() => sleeping(4711)).not.toEqual([]);
    expect(await owned.kill()).toBe(true);
    await expect.poll(() => sleeping(4711)).toEqual([]);
  });

  test('endOrphans() ends what it left behind, but not the program and its children', async () => {
    const owned = contain(`${escape(4713)}; sleep 4712`);
    await expect.poll(() => sleeping(4713)).not.toEqual([]);
    await owned.endOrphans();
    await expect.poll(() => sleeping(4713)).toEqual([]);
    expect(sleeping(4712)).not.toEqual([]);
    expect(owned.child.exitCode).toBeNull();
  });

  test('ends a process that entered a nested control group', async () => {
    const enter =
      'g=$(sed -n "s/^0:://p" /proc/self/cgroup); m=$(grep " - cgroup2 " /proc/self/mountinfo | cut -d" " -f5 | head -1)';
    const nest = `${enter}; mkdir "$m$g/inner" && (echo 0 > "$m$g/inner/cgroup.procs"; exec setsid env -i sleep 4715) > /dev/null 2>&1 &`;
    const owned = contain(`(${nest}) ; sleep 4714`);
    await expect.poll(() => sleeping(4715)).not.toEqual([]);
    await owned.endOrphans();
    await expect.poll(() => sleeping(4715)).toEqual([]);
    expect(sleeping(4714)).not.toEqual([]);
    expect(await owned.kill()).toBe(true);
    expect(sleeping(4714)).toEqual([]);
  });

  test('ends with all of a fork bomb', async () => {
    const bomb = `b() { (setsid env -i sleep 4717 &) ; }; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do b; done; echo up; while :; do b; sleep 0.01; done`;
    const owned = contain(bomb);
    await new Promise((resolve) => owned.child.stdout.once('data', resolve));
    expect(await owned.kill()).toBe(true);
    await expect.poll(() => sleeping(4717)).toEqual([]);
  });
});
