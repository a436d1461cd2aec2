import { describe, expect, test } from 'vitest';
import type { HandleResult, TurnFrame, TurnProgress } from '@svc/contract/turn.ts';
import { plain } from '../terminal.ts';
import { createPlainLines } from './turn-lines.ts';
import { createTurnView, describeError } from './turn-view.ts';

const result = (fields: Partial<HandleResult> = {}): TurnFrame & { type: 'result' } => ({
  type: 'result',
  result: {
    actions: [{ type: 'reply', text: 'whole answer' }],
    outcome: 'replied',
    conversation_key: 'k',
    turn_id: 't',
    ...fields,
  },
});

function show(frames: TurnProgress[], end: Extract<TurnFrame, { type: 'result' | 'error' }> = result()) {
  let [answer, all] = ['', ''];
  const output = { answer: (text: string) => ((answer += text), (all += text)), aside: (text: string) => (all += text) };
  const view = createTurnView(createPlainLines(output, plain));
  for (const frame of frames) view.show(frame);
  const verdict = view.finish(end);
  return { answer, all, verdict };
}

const delta = (text: string): TurnProgress => ({ type: 'delta', text });

describe('view of a turn', () => {
  test('shows the answer as it arrives and ends the line', () => {
    expect(show([delta('he'), delta('llo'), { type: 'segment', text: 'hello' }])).toEqual({
      answer: 'hello\n',
      all: 'hello\n',
      verdict: 'ok',
    });
  });

  test('shows a block that arrived without deltas', () => {
    expect(show([{ type: 'segment', text: 'hello' }]).answer).toBe('hello\n');
  });

  test('shows a question with numbered answers, and its outcome when nobody answered', () => {
    const options = [
      { id: 'yes', label: 'Yes' },
      { id: 'no', label: 'No\u001b[2J' },
    ];
    const ask = { id: 'a', text: 'Run this?\n\nls', options, for: 'p', expires_at: 0 };
    const { all, answer } = show([
      { type: 'ask', ask },
      { type: 'asked', id: 'other', answer: { option: null, outcome: 'ended' } },
      { type: 'asked', id: 'a', answer: { option: null, outcome: 'expired' } },
    ]);
    expect(all).toBe(
      '\n? Run this?\n\nls\n1. Yes\n2. No\\x1b[2J\nAnswer with a number or the words.\nNot answered in time, so it was not done.\nwhole answer\n',
    );
    expect(answer).toBe('whole answer\n');
  });

  test('names the command that fixes a failed engine', () => {
    const error = {
      ok: false,
      error: 'engine_not_logged_in',
      message: 'Nobody is logged in.',
      request_id: 'r',
      engine_id: 'codex',
    } as const;
    const { all, verdict } = show([], { type: 'error', error });
    expect([verdict, all]).toEqual(['failed', expect.stringContaining('Nobody is logged in. Run: ./svc engine login codex')]);
  });

  test('shows warnings of the turn apart from the answer', () => {
    const shown = show([delta('hi'), { type: 'segment', text: 'hi' }], result({ warnings: ['Tool server kit is not there.'] }));
    expect(shown).toMatchObject({ answer: 'hi\n', all: expect.stringContaining('! Tool server kit is not there.') as string });
  });

  test('separates two blocks with an empty line', () => {
    expect(show([{ type: 'segment', text: 'one' }, delta('two'), { type: 'segment', text: 'two' }]).answer).toBe('one\n\ntwo\n');
  });

  test('shows text that was never streamed, such as the answer to a command', () => {
    expect(show([], result({ outcome: 'command' })).answer).toBe('whole answer\n');
  });

  test('keeps thinking, tools and waiting out of the answer', () => {
    const { answer, all } = show([
      { type: 'queued', position: 2 },
      { type: 'thinking', text: 'hm' },
      { type: 'tool', id: '1', name: 'clock', input: { zone: 'UTC' } },
      { type: 'tool_result', id: '1', ok: true, output: '12:00\nmore' },
      delta('noon'),
    ]);
    expect(answer).toBe('noon\n');
    expect(all).toBe('waiting, 2 before this\nhm\n⚙ clock {"zone":"UTC"}\n  → 12:00\nnoon\n');
  });

  test('shows a stopped turn without reporting its retraction', () => {
    const { all } = show([delta('oops'), { type: 'retract' }], result({ actions: [], outcome: 'aborted' }));
    expect(all).toContain('(stopped)');
    expect(all).not.toContain('withdrawn');
  });

  test('does not add a second empty line between two blocks', () => {
    const { all } = show(
      [delta('one'), { type: 'segment', text: 'one' }, delta('\n\ntwo'), { type: 'segment', text: 'two' }],
      result(),
    );
    expect(all).toBe('one\n\ntwo\n');
  });

  test('reports that streamed text was withdrawn', () => {
    const { all } = show([delta('oops'), { type: 'retract' }], result({ actions: [], outcome: 'silent' }));
    expect(all).toContain('withdrawn');
  });

  test.each([
    ['aborted', 'stopped', '(stopped)'],
    ['denied', 'failed', 'the owner can give it (./svc person). If you are the owner, ./svc doctor says what is wrong.'],
    ['observed', 'ok', 'kept for the next turn'],
  ] as const)('shows %s', (outcome, verdict, words) => {
    const shown = show([], result({ actions: [], outcome }));
    expect(shown.verdict).toBe(verdict);
    expect(shown.all).toContain(words);
  });

  test('shows an error as text', () => {
    const end = {
      type: 'error',
      error: { ok: false, error: 'engine_overloaded', message: 'The model is busy.', request_id: 'r' },
    } as const;
    expect(show([delta('half')], end)).toMatchObject({
      verdict: 'failed',
      all: expect.stringContaining('✗ The model is busy.') as string,
    });
  });

  test('escapes control characters of tools and thoughts', () => {
    const evil = '\u001B]52;c;x\u0007';
    const frames: TurnProgress[] = [
      { type: 'thinking', text: evil },
      { type: 'tool_result', id: 't', ok: true, output: evil },
    ];
    expect(show(frames).all).not.toContain('\u001B');
  });
});

test('an error with a known cause is shown as it is, and only an unknown one refers to the log', () => {
  const body = { ok: false, error: 'internal', message: 'No reply can be sent.', request_id: 'req_1' } as const;
  expect(describeError({ ...body, cause: 'mask' })).toBe('No reply can be sent.');
  expect(describeError(body)).toBe('No reply can be sent. (request req_1; ./svc logs core shows more)');
});
