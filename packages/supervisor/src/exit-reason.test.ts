import { describe, expect, test } from 'vitest';
import { describeExit } from './exit-reason.ts';

const lines = (...texts: string[]) => texts.map((text) => ({ at: 0, stream: 'stderr' as const, text }));
const ended = { code: 1, signal: null, error: null };

describe('the reason of an exit', () => {
  test.each([
    [
      'the error of a stack trace',
      ended,
      ['file:///x.ts:1', "throw new Error('boom')", '      ^', '', 'Error: boom', '    at x.ts:1:7', '', 'Node.js v26.10.0'],
      'ended with exit code 1: Error: boom',
    ],
    [
      'the message of a JSON line',
      ended,
      ['{"level":"fatal","msg":"core could not start"}'],
      'ended with exit code 1: core could not start',
    ],
    [
      'the message of a JSON line with its error',
      ended,
      ['{"level":"error","msg":"uncaught fault","error":"the socket is gone","stack":"Error: the socket is gone"}'],
      'ended with exit code 1: uncaught fault: the socket is gone',
    ],
    [
      'no line about what ends nobody',
      { code: null, signal: 'SIGKILL', error: null },
      ['{"level":"warn","msg":"a token is not set"}', '{"level":"info","msg":"core is ready"}'],
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
    ['the signal', { code: null, signal: 'SIGKILL', error: null }, [], 'was ended by SIGKILL'],
    ['an exit that nobody asked for', { ...ended, code: 0 }, ['bye'], 'ended with exit code 0: bye'],
    [
      'a start that was impossible',
      { code: null, signal: null, error: 'spawn EAGAIN' },
      ['old'],
      'could not be started: spawn EAGAIN',
    ],
  ])('names %s', (_, exit, texts, expected) => {
    expect(describeExit(exit, lines(...texts))).toBe(expected);
  });
});
