import { expect, test } from 'vitest';
import { createReplyText } from './reply-text.ts';
import { createWorkText, type ReplyWork } from './reply-work.ts';

const open = (limit = 1000) => {
  const shown = ({ steps, left, text }: ReplyWork): string[] => {
    const all = [`left ${left}`, ...steps.map((step) => JSON.stringify(step)), text].join('\n');
    return all.match(new RegExp(`[^]{1,${limit}}`, 'g')) ?? [];
  };
  return createWorkText(createReplyText('stream'), shown);
};

test('joins consecutive thoughts into one step, and attaches results to their tools', () => {
  const work = open();
  for (const text of ['It ', 'may be']) work.onThinking(text);
  work.onTool({ id: 't1', name: 'Read', input: { path: 'a' } });
  work.onTool({ id: 't2', name: 'Look', input: {} });
  work.onToolResult({ id: 't1', ok: true, output: 'found' });
  work.onToolResult({ id: 'of nothing', ok: true, output: 'x' });
  work.add('So');
  expect(work.visible().split('\n')).toEqual([
    'left 0',
    '{"kind":"thinking","text":"It may be"}',
    '{"kind":"tool","id":"t1","name":"Read","input":{"path":"a"},"ok":true,"output":"found"}',
    '{"kind":"tool","id":"t2","name":"Look","input":{}}',
    'So',
  ]);
});

test('is never blank, even after a retraction', () => {
  const work = open();
  work.add('So');
  work.onThinking('why');
  work.retract();
  expect([work.isBlank(), work.visible()]).toEqual([false, 'left 0\n']);
});

test('keeps the last steps, shortens long ones, and stays within the limit of a message', () => {
  const work = open(5000);
  for (let n = 0; n < 300; n++) work.onTool({ id: `t${n}`, name: 'Read', input: n });
  work.onThinking('x'.repeat(100_000));
  expect(work.visible()).toMatch(/^left 201\n/);
  const cuts = work.cuts();
  const pieces = [...cuts, work.visible().length].map((end, n) => work.visible().slice(cuts[n - 1] ?? 0, end));
  expect(pieces.every(({ length }) => length <= 5002)).toBe(true);
  expect(pieces.length).toBeGreaterThan(4);
});
