import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { commandLineOf } from '@svc/service-kit/process/command-line.ts';
import { describeOwner } from '../src/port-owner.ts';

test('reads a long command line completely, and truncates it in the description', async () => {
  const long = `--at=/${'far/'.repeat(100)}end.ts`;
  const script = "process.send('up'); setInterval(() => 0, 1e6)";
  const child = spawn(process.execPath, ['-e', script, '--', long], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  try {
    await once(child, 'message');
    const pid = child.pid ?? 0;
    const program = await commandLineOf(pid);
    expect(program.endsWith(long)).toBe(true);
    expect(describeOwner({ pid, program }).length).toBeLessThan(240);
    expect(describeOwner({ pid, program })).toContain(`… (process ${pid})`);
  } finally {
    child.kill();
  }
});
