import { describe, expect, test } from 'vitest';
import { createChildLog } from './child-log.ts';

function setUp(withDebug = false) {
  const lines: string[] = [];
  const log = createChildLog(withDebug, (line) => void lines.push(line));
  return { log, entries: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>), lines };
}

describe('connector log', () => {
  test('writes one JSON line per entry, with the field names of all logs', () => {
    const { log, entries, lines } = setUp();
    log.bind('compat', 'inst_1');
    log('info', 'two\nlines', { port: 1 });
    expect(lines[0]).toMatch(/^\{"level":"info","time":\d+.*\}\n$/);
    expect(entries()[0]).toEqual({
      level: 'info',
      time: expect.any(Number),
      service: 'compat',
      instance: 'inst_1',
      msg: 'two\nlines',
      port: 1,
    });
  });

  test('drops debug lines unless they are enabled', () => {
    const quiet = setUp();
    quiet.log('debug', 'x');
    expect(quiet.lines).toHaveLength(0);
    const loud = setUp(true);
    loud.log('debug', 'x');
    expect(loud.lines).toHaveLength(1);
  });

  test('truncates long texts', () => {
    const { log, lines } = setUp();
    log('info', 'x'.repeat(100_000));
    expect(lines[0]?.length).toBeLessThan(3_000);
  });

  test('does not let fields overwrite level or message', () => {
    const { log, entries } = setUp();
    log('error', 'real', { level: 'info', msg: 'forged', time: 0 });
    expect(entries()[0]).toMatchObject({ level: 'error', msg: 'real' });
  });

  test('keeps the message when a field cannot be serialized', () => {
    const { log, entries } = setUp();
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;
    log('warn', 'kept', { loop, big: 1n });
    expect(entries()[0]).toMatchObject({ level: 'warn', msg: 'kept' });
  });
});
