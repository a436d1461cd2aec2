import { expect, test } from 'vitest';
import { asLogLine } from './log-line.ts';

const line = '{"level":"warn","time":1,"service":"core","msg":"a secret","x":1}\n';

test.each([
  ['nothing was masked', line, line, line],
  ['it is JSON still', line, line.replace('secret', '[redacted:token]'), line.replace('secret', '[redacted:token]')],
  ['it is a plain line', 'a secret\n', 'a [redacted:token]\n', 'a [redacted:token]\n'],
  ['it is a plain line that lost its end', 'a secret\n', ' [redacted:token]', ' [redacted:token]\n'],
  ['it is a plain line without an end', 'a secret', 'a [redacted:token]', 'a [redacted:token]'],
  ['it is a number', '1234567\n', '[redacted:token]', '[redacted:token]\n'],
  ['it is null', 'null\n', '[redacted:token]', '[redacted:token]\n'],
])('keeps the masked line when %s', (_when, before, masked, after) => expect(asLogLine(before, masked)).toBe(after));

test.each(['{"msg":"[redacted:private-key]', 'null', '5', '"text"'])(
  'turns a masked line that is not an entry (%s) into one',
  (masked) => {
    const built = asLogLine(line, ` ${masked}\n `);
    expect(built).toBe(`${JSON.stringify({ level: 'warn', time: 1, service: 'core', msg: ` ${masked}` })}\n`);
  },
);
