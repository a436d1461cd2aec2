import { describe, expect, test } from 'vitest';
import { describeExit } from './exit-reason.ts';

const lines = (...texts: string[]) => texts.map((text) => ({ at: 0, stream: 'stderr' as const, text }));
const ended = { code: 1, signal: null, error: null };
const killed = { code: null, signal: 'SIGKILL', error: null };
const unknown = 'ended with exit code 1; the reason is not known';

describe('describeExit()', () => {
  test.each([
    [
      'the error of a stack trace',
      ended,
      ['file:///x.ts:1', "throw new Error('boom')", '      ^', '', 'Error: boom', '    at x.ts:1:7', '', 'Node.js v26.10.0'],
      'ended with exit code 1: Error: boom',
    ],
    [
      'the error with a code, and not what Node shows of it below the stack',
      ended,
      ["Error [ERR_X]: Cannot find package 'y'", '    at x.ts:1:7 {', "  code: 'ERR_X'", '}', '', 'Node.js v26.10.0'],
      "ended with exit code 1: Error [ERR_X]: Cannot find package 'y'",
    ],
    [
      'the message of a fatal line',
      ended,
      ['{"level":"fatal","msg":"core could not start"}'],
      'ended with exit code 1: core could not start',
    ],
    [
      'the message of a fatal line with its error',
      ended,
      ['{"level":"fatal","msg":"uncaught fault","error":"the socket is gone","stack":"Error: the socket is gone"}'],
      'ended with exit code 1: uncaught fault: the socket is gone',
    ],
    [
      'the message of a fatal line with the error that a service logs',
      ended,
      ['{"level":"fatal","err":{"type":"Error","message":"no memory"},"msg":"uncaught fault"}', '{"level":"error","msg":"late"}'],
      'ended with exit code 1: uncaught fault: no memory',
    ],
    [
      'an error once that its message has in it',
      ended,
      ['{"level":"fatal","err":{"message":"port 1 is taken"},"msg":"core could not start: port 1 is taken"}'],
      'ended with exit code 1: core could not start: port 1 is taken',
    ],
    [
      'no line about what ends nobody',
      killed,
      ['{"level":"warn","msg":"a token is not set"}', '{"level":"info","msg":"core is ready"}', 'Error: an old one'],
      'was ended by SIGKILL',
    ],
    [
      'a heap that is used up, and not the stack that V8 prints below it',
      { code: null, signal: 'SIGABRT', error: null },
      [
        'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory',
        '----- Native stack trace -----',
        ' 1: 0x76 node::OOMErrorHandler(char const*, v8::OOMDetails const&) [node]',
      ],
      'used up its heap',
    ],
    ['the signal', killed, [], 'was ended by SIGKILL'],
    [
      'what V8 says of memory that it was not given, and not the stack below it',
      { code: null, signal: 'SIGTRAP', error: null },
      [
        '#',
        '# Fatal process out of memory: Failed to reserve virtual memory for CodeRange',
        '#',
        '----- Native stack trace -----',
        ' 1: 0xaa1c41  [/usr/bin/node]',
        '14: 0x7ffba11278ec  [/lib/x86_64-linux-gnu/libc.so.6]',
      ],
      'was ended by SIGTRAP: Fatal process out of memory: Failed to reserve virtual memory for CodeRange',
    ],
    [
      'the last words of a process that fails by a signal',
      { code: null, signal: 'SIGABRT', error: null },
      ['assertion failed: x > 0'],
      'was ended by SIGABRT: assertion failed: x > 0',
    ],
    [
      'a start that was impossible',
      { code: null, signal: null, error: 'spawn EAGAIN' },
      ['old'],
      'could not be started: spawn EAGAIN',
    ],
    ['no failed work as the reason', ended, ['{"level":"error","msg":"turn failed"}'], unknown],
    [
      'no failed work as the reason of an ordered end',
      { ...ended, code: 0 },
      ['bye'],
      'ended with exit code 0; the reason is not known',
    ],
    [
      'a signal that a process took as its order to stop',
      { ...ended, code: 0 },
      ['{"level":"error","msg":"turn failed"}', '{"level":"info","why":"SIGTERM","msg":"stopping"}'],
      'ended with exit code 0: it was told to stop (SIGTERM)',
    ],
    ['nothing where nothing was seen', ended, ['', '    at x.ts:1:7', '{"level":"info"}'], unknown],
  ])('names %s', (_, exit, texts, expected) => {
    expect(describeExit(exit, { lines: lines(...texts), at: 0 })).toBe(expected);
  });

  test('ignores old lines and the output to users', () => {
    expect(describeExit(ended, { lines: lines('Error: of this morning'), at: 3_600_000 })).toBe(unknown);
    const told = [{ at: 0, stream: 'stdout' as const, text: 'Error: an example of an error' }];
    expect(describeExit(ended, { lines: told, at: 0 })).toBe(unknown);
  });

  test('returns one short line, whatever the log contains', () => {
    const long = JSON.stringify({ level: 'fatal', msg: 'x'.repeat(5000) });
    for (const text of [long, 'y'.repeat(5000), '{"level":"fatal","msg":{"a":1},"error":[1]}', '{"level":"fatal"'])
      expect(describeExit(ended, { lines: lines(text), at: 0 }).length).toBeLessThan(600);
  });
});
