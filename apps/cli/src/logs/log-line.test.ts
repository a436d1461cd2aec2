import { describe, expect, test } from 'vitest';
import { createStyle, plain } from '../terminal.ts';
import { logWords, renderLogEntry, toLogEntry } from './log-line.ts';

const render = (raw: string) => renderLogEntry(toLogEntry('core', raw, 0), plain);

describe('log line', () => {
  test('shows time, process, level, message and details', () => {
    const raw = JSON.stringify({
      level: 'warn',
      time: new Date(2026, 0, 1, 12, 3, 11, 42).getTime(),
      service: 'core',
      msg: 'slow',
      ms: 7,
      url: 'x',
    });
    expect(render(raw)).toBe('12:03:11.042 core       warn  slow ms=7 url=x');
  });

  test('shows the message of an error without its stack', () => {
    const err = { message: 'no\nroom', stack: 'Error: no room\n    at y' };
    const rendered = (fields: object) => render(JSON.stringify({ level: 'error', time: 0, ...fields })).replace(/^ *core +/, '');
    expect(rendered({ msg: 'bad', err })).toBe('error bad (no\\nroom)');
    expect(rendered({ msg: 'bad: full', err: { message: 'full' } })).toBe('error bad: full');
    expect(rendered({ msg: 'could not start', error: 'x', stack: 'Error: x\n    at y' })).toBe('error could not start error=x');
    for (const odd of [null, 7, 'text', { message: 7 }, []]) expect(rendered({ msg: 'bad', err: odd })).toBe('error bad');
  });

  test('has colours only where they are wanted', () => {
    const coloured = createStyle({ isTTY: true }, {});
    const raw = JSON.stringify({ level: 'error', time: 1, msg: 'bad' });
    expect(renderLogEntry(toLogEntry('core', raw, 0), coloured)).toContain('\u001B[31merror\u001B[39m');
    expect(renderLogEntry(toLogEntry('core', raw, 0), createStyle({ isTTY: true }, { NO_COLOR: '1' }))).not.toContain('\u001B');
  });

  test('is shown unchanged when it is not JSON', () => {
    expect(render('{ half')).toContain('core       { half');
  });

  test('without a time takes that of its arrival', () => {
    expect(toLogEntry('core', 'plain', 42).at).toBe(42);
  });

  test('cannot contain control characters or forge another line', () => {
    const text = 'a\u001B]52;c;x\u0007\n12:00:00.000 core  info  forged';
    const json = render(
      JSON.stringify({
        level: 'info',
        time: 1,
        msg: text,
        sender: text,
        err: { message: `because ${text}`, stack: '\u001B[2J' },
      }),
    );
    expect(json + render('\u001B[2Jplain')).not.toContain('\u001B');
    expect(json.split('\n')).toHaveLength(1);
  });

  test('with an invalid time is shown', () => {
    expect(render(JSON.stringify({ time: 1e300, msg: 'odd' }))).toContain('odd');
  });
});

test.each([
  ['{"level":"error","time":1,"service":"core","msg":"bad","err":{"message":"no\\nroom"}}', 'bad (no\\nroom)'],
  ['{"level":"info","time":1}', '{"level":"info","time":1}'],
  ['Segmentation\u001b[2J fault', 'Segmentation\\x1b[2J fault'],
])('logWords() gives only the message of %s', (raw, words) => {
  expect(logWords(raw)).toBe(words);
});
