import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { isAlive } from '@svc/service-kit/process/signal-process.ts';

const fixture = (name: string) => path.join(import.meta.dirname, 'fixtures', name);

describe('log', () => {
  test('writes every line before the process ends', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [fixture('short-lived.ts')], { maxBuffer: 10_000_000 });
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { i: number });
    expect(lines.map(({ i }) => i)).toEqual(Array.from({ length: 2000 }, (_, i) => i));
  });

  test('masks every line, and omits one that cannot be masked', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [fixture('masked-lines.ts')]);
    expect(stdout).not.toContain('zq9-known');
    expect(stdout).toContain('token=[redacted:secret] failed');
    expect(stdout.trim().split('\n')[1]).toContain('could not be masked');
  });

  test('truncates a long error without splitting a secret', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [fixture('long-fault.ts')]);
    expect(stdout).not.toContain('zq9');
    expect(stdout).toContain('xx[redacted');
    expect(stdout.length).toBeLessThan(11_000);
  });

  test('does not keep a process alive whose parent was killed', async () => {
    const parent = spawn(process.execPath, [fixture('short-lived-parent.ts')], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [text] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(text.toString());
    parent.kill('SIGKILL');
    await expect.poll(() => isAlive(pid)).toBe(false);
  });
});
