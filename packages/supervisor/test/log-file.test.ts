import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLogFile } from '../src/log-file.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'svc-log-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));
const line = (text: string) => ({ at: 5, stream: 'stderr' as const, text });

describe('a log file', () => {
  it('keeps JSON lines as they are and wraps the others, readable by its owner only', () => {
    const log = createLogFile({ dir: path.join(dir, 'logs'), name: 'core' });
    log.write(line('{"msg":"hi"}'));
    log.write(line('plain'));
    log.close();
    expect(readFileSync(log.file, 'utf8')).toBe('{"msg":"hi"}\n{"level":"error","time":5,"stream":"stderr","msg":"plain"}\n');
    expect(statSync(log.file).mode & 0o777).toBe(0o600);
  });

  it('begins anew at its limit, keeps one old file, and goes on where it left off', async () => {
    for (let run = 0; run < 3; run++) {
      const log = createLogFile({ dir, name: 'a', maxBytes: 1000 });
      for (let i = 0; i < 50; i++) {
        log.write(line(`{"n":${i}}`));
        await Promise.resolve();
      }
      log.close();
      expect(statSync(log.file).size).toBeLessThanOrEqual(1000);
    }
    expect(statSync(path.join(dir, 'a.log.1')).size).toBeGreaterThan(900);
    expect(readFileSync(path.join(dir, 'a.log'), 'utf8')).toMatch(/\{"n":49\}\n$/);
    expect(existsSync(path.join(dir, 'a.log.2'))).toBe(false);
  });

  it('is there again after it was removed, with its folder', async () => {
    const log = createLogFile({ dir: path.join(dir, 'logs'), name: 'a' });
    log.write(line('{"n":1}'));
    await Promise.resolve();
    rmSync(path.join(dir, 'logs'), { recursive: true });
    log.write(line('{"n":2}'));
    log.close();
    expect(readFileSync(log.file, 'utf8')).toBe('{"n":2}\n');
  });

  it('drops lines it cannot write, says why, and does not throw', () => {
    writeFileSync(path.join(dir, 'a-file'), '');
    const log = createLogFile({ dir: path.join(dir, 'a-file', 'logs'), name: 'a' });
    log.write(line('x'));
    log.close();
    expect(log.fault).not.toBeNull();
  });
});
