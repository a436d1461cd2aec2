import { expect, test } from 'vitest';
import type { Asking, EngineRequest, Question } from '@svc/engine-kit/engine.ts';
import { permitTool } from './ask-person.ts';

const server = (name: string, safe: boolean) => ({ name, type: 'http' as const, url: 'http://x', headers: {}, safe });

/** A turn whose person chooses the option with this index. */
function open(asks: Asking, { at = 0, ...fields }: { at?: number } & Partial<EngineRequest> = {}) {
  const asked: Question[] = [];
  const request = {
    toolPolicy: 'full' as const,
    toolServers: [server('calm', true), server('wild', false), server('calm__x', false)],
    cwd: '/',
    filesDir: null,
    asks,
    ask: async (question: Question) => {
      asked.push(question);
      return { option: question.options[at]?.id ?? 'none', outcome: 'answered' as const };
    },
    ...fields,
  };
  return { asked, permit: (tool: string, input: Record<string, unknown> = {}) => permitTool(request, tool, input) };
}

test.each([
  ['Read', false],
  ['TaskUpdate', false],
  ['Agent', false],
  ['mcp__calm__echo', false],
  ['Bash', true],
  ['Skill', true],
  ['SomethingNew', true],
  ['mcp__wild__echo', true],
  ['mcp__nobody__echo', true],
  // It is a tool of `calm__x` as well.
  ['mcp__calm__x__echo', true],
])('%s requires a question in "dangerous" mode: %s, and always in "always" mode', async (tool, isAsked) => {
  for (const asks of ['dangerous', 'always'] as const) {
    const { asked, permit } = open(asks);
    expect(await permit(tool)).toMatchObject({ behavior: 'allow' });
    expect(asked).toHaveLength(isAsked || asks === 'always' ? 1 : 0);
  }
});

test('an approval does not exceed the tool policy, and no one is asked about what the policy denies', async () => {
  for (const toolPolicy of ['none', 'read'] as const) {
    const { asked, permit } = open('always', { toolPolicy });
    expect(await permit('Bash', { command: 'ls' })).toMatchObject({ behavior: 'deny' });
    expect(await permit('mcp__wild__echo')).toMatchObject({ behavior: 'deny' });
    expect(asked).toEqual([]);
  }
});

test('passes a denial to the model, and allows everything without asking when questions are off', async () => {
  const { permit } = open('dangerous', { at: 1 });
  expect(await permit('Bash', { command: 'ls' })).toEqual({ behavior: 'deny', message: 'The person was asked and said no.' });
  const { asked, permit: asEver } = open('dangerous', { asks: undefined, ask: undefined });
  expect([await asEver('Bash'), asked]).toEqual([{ behavior: 'allow', updatedInput: {} }, []]);
});

test('shows the person the complete input unless it is a simple command', async () => {
  const { asked, permit } = open('dangerous');
  await permit('Bash', { command: 'ls', description: 'List', timeout: 5 });
  await permit('Bash', { command: 'ls', run_in_background: true });
  await permit('Write', { file_path: '/a', content: 'hi' });
  expect(asked.map(({ text }) => text)).toEqual([
    'May the assistant run this command?\n\nls',
    'May the assistant use Bash?\n\n{\n  "command": "ls",\n  "run_in_background": true\n}',
    'May the assistant write this file?\n\n/a\n\nhi',
  ]);
  await permit('Bash', { command: `echo ${'x'.repeat(10_000)}; rm -rf ~` });
  expect(asked[3]?.text).toMatch(/It has 10015 characters[\s\S]*characters are not shown[\s\S]*rm -rf ~$/);
});

test('asks the questions of the model one by one, and stops at the first without an answer', async () => {
  const options = [{ label: 'Red', description: 'warm' }, { label: 'Blue' }];
  const questions = [
    { question: '__proto__', options },
    { question: 'Which?', options },
  ];
  const { permit, asked } = open('dangerous', { at: 1 });
  const answered = await permit('AskUserQuestion', { questions });
  expect(JSON.stringify(answered)).toContain('"answers":{"__proto__":"Blue","Which?":"Blue"}');
  expect(asked[0]?.text).toBe('__proto__\n\nRed: warm');
  const away = open('dangerous', { at: 5 });
  expect(await away.permit('AskUserQuestion', { questions })).toMatchObject({ behavior: 'deny' });
  expect(away.asked).toHaveLength(1);
  for (const input of [
    {},
    { questions: [null] },
    { questions: [{ question: 1, options }] },
    { questions: [{ question: 'x', options: [null] }] },
  ])
    expect(await permit('AskUserQuestion', input)).toMatchObject({ behavior: 'deny' });
});
