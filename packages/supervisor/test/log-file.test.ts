import { appendFileSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { createLogFile, readLogTail } from '../src/log-file.ts';

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());
const line = (text: string) => ({ at: 5, stream: 'stderr' as const, text });

describe('log file', () => {
  test('keeps JSON lines unchanged and wraps others, readable by its owner alone', () => {
    const log = createLogFile({ dir: path.join(folder.path, 'logs'), name: 'core' });
    log.write(line('{"msg":"hi"}'));
    log.write(line('plain'));
    log.close();
    expect(readFileSync(log.file, 'utf8')).toBe('{"msg":"hi"}\n{"level":"error","time":5,"stream":"stderr","msg":"plain"}\n');
    expect(statSync(log.file).mode & 0o777).toBe(0o600);
  });

  test('rotates at its limit, keeps one old file, and appends in the next run', async () => {
    for (let run = 0; run < 3; run++) {
      const log = createLogFile({ dir: folder.path, name: 'a', maxBytes: 1000 });
      for (let i = 0; i < 50; i++) {
        log.write(line(`{"n":${i}}`));
        await Promise.resolve();
      }
      log.close();
      expect(statSync(log.file).size).toBeLessThanOrEqual(1000);
    }
    expect(statSync(path.join(folder.path, 'a.log.1')).size).toBeGreaterThan(900);
    expect(readFileSync(path.join(folder.path, 'a.log'), 'utf8')).toMatch(/\{"n":49\}\n$/);
    expect(existsSync(path.join(folder.path, 'a.log.2'))).toBe(false);
  });

  test('is created again with its folder after both were removed', async () => {
    const log = createLogFile({ dir: path.join(folder.path, 'logs'), name: 'a' });
    log.write(line('{"n":1}'));
    await Promise.resolve();
    rmSync(path.join(folder.path, 'logs'), { recursive: true });
    log.write(line('{"n":2}'));
    log.close();
    expect(readFileSync(log.file, 'utf8')).toBe('{"n":2}\n');
  });

  test('drops lines that it cannot write, and records the fault', () => {
    writeFileSync(path.join(folder.path, 'a-file'), '');
    const log = createLogFile({ dir: path.join(folder.path, 'a-file', 'logs'), name: 'a' });
    log.write(line('x'));
    log.close();
    expect(log.fault).not.toBeNull();
  });

  test('reports once that it cannot be written, and once that it can again', async () => {
    const dir = path.join(folder.path, 'logs');
    writeFileSync(dir, 'in the way');
    const reported: boolean[] = [];
    const log = createLogFile({ dir, name: 'a', onFault: () => reported.push(log.fault !== null) });
    const write = async () => {
      log.write(line('x'));
      await Promise.resolve();
    };
    await write();
    await write();
    rmSync(dir);
    await write();
    await write();
    log.close();
    expect(reported).toEqual([true, false]);
  });
});

describe('readLogTail()', () => {
  test('returns the lines as they were written', () => {
    const log = createLogFile({ dir: folder.path, name: 'a' });
    const lines = [
      { at: 1, stream: 'stderr', text: 'plain' },
      { at: 2, stream: 'stdout', text: '{"level":"info","time":2,"msg":"said"}' },
      { at: 3, stream: 'stdout', text: '{no JSON' },
    ] as const;
    for (const line of lines) log.write(line);
    log.close();
    expect(readLogTail(log.file)).toEqual(lines);
  });

  test('returns the last 500 of many lines, each of them complete', () => {
    const log = createLogFile({ dir: folder.path, name: 'a' });
    for (let i = 0; i < 20_000; i++) log.write({ at: i, stream: 'stdout', text: `line ${i} ${'x'.repeat(i % 900)}` });
    log.close();
    const tail = readLogTail(log.file);
    expect([tail.length, tail[0]?.text.split(' ')[1], tail.at(-1)?.at]).toEqual([500, '19500', 19_999]);
  });

  test('returns a truncated line as it is, and nothing for a missing file', () => {
    const file = path.join(folder.path, 'b.log');
    expect(readLogTail(file)).toEqual([]);
    appendFileSync(file, '{"level":"in');
    expect(readLogTail(file)).toEqual([{ at: 0, stream: 'stdout', text: '{"level":"in' }]);
  });
});
