import { expect, test } from 'vitest';
import { runProgram } from './run-program.ts';
import { createTextTail } from './text-tail.ts';

const run = (script: string, timeoutMs = 10_000, maxOutput?: number) =>
  runProgram(process.execPath, ['-e', script], { env: { PATH: process.env['PATH'] }, timeoutMs, maxOutput });

test('returns the exit code and the output of a program', async () => {
  expect(await run("console.log('out'); console.error('err'); process.exitCode = 3")).toEqual({
    ending: 'ended',
    code: 3,
    stdout: 'out\n',
    stderr: 'err',
    isCut: false,
  });
});

test('keeps a bounded part of endless output, and ends the program at the timeout', async () => {
  const before = process.memoryUsage().rss;
  const result = await run(
    "const b = 'x'.repeat(65536); const go = () => { while (process.stdout.write(b)); }; process.stdout.on('drain', go); go()",
    700,
  );
  expect(result).toMatchObject({ ending: 'too_late', code: null, isCut: true });
  expect(result.stdout.length).toBe(64 * 1024);
  expect(process.memoryUsage().rss - before).toBeLessThan(300e6);
});

test('reports a program that cannot be started', async () => {
  const result = await runProgram('/nowhere/x', [], { env: {}, timeoutMs: 1000 });
  expect(result).toMatchObject({ ending: 'not_started', stderr: expect.stringContaining('ENOENT') });
});

test('does not wait for descendants that hold the pipes open', async () => {
  const left = `require('node:child_process').spawn('sleep', ['60'], { detached: true, stdio: 'inherit' }).unref()`;
  expect(await run(`${left}; console.log('done')`)).toMatchObject({ ending: 'ended', code: 0, stdout: 'done\n' });
});

test('a text tail keeps the end however the text is cut', () => {
  for (const size of [1, 3, 10, 25, 100]) {
    const whole = Array.from({ length: 100 }, (_, n) => n % 10).join('');
    const tail = createTextTail(10);
    for (let at = 0; at < whole.length; at += size) tail.add(whole.slice(at, at + size));
    expect([tail.raw(), tail.isCut()]).toEqual(['0123456789', true]);
  }
  const short = createTextTail(10);
  short.add('0123456789');
  expect([short.raw(), short.isCut()]).toEqual(['0123456789', false]);
});
