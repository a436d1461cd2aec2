import { expect, test } from 'vitest';
import { createApprovals } from './approvals.ts';

function open(option: 'yes' | 'no' = 'yes') {
  const asked: string[] = [];
  const approvals = createApprovals(async ({ text }) => {
    asked.push(text);
    return { option, outcome: 'answered' };
  });
  return { asked, ...approvals };
}
const command = 'item/commandExecution/requestApproval';
const patch = 'item/fileChange/requestApproval';
const tool = 'mcpServer/elicitation/request';

test('approves or declines once, with the text of each kind of question', async () => {
  const meta = { codex_approval_kind: 'mcp_tool_call', tool_name: 'echo', tool_params: { a: 1 } };
  const { answer, asked } = open();
  expect(await answer(command, { command: 'ls', cwd: '/x', kind: 'command' })).toEqual({ decision: 'accept' });
  expect(await answer(command, { command: 'write_stdin x', kind: 'writeStdin' })).toEqual({ decision: 'accept' });
  expect(await answer(tool, { serverName: 's', _meta: meta })).toEqual({ action: 'accept', content: {}, _meta: null });
  expect(asked).toEqual([
    'May the assistant run this command?\n\nls\n\nin /x',
    'May the assistant type this into a running command?\n\nwrite_stdin x',
    'May the assistant use echo of s?\n\n{\n  "a": 1\n}',
  ]);
  const no = open('no');
  expect(await no.answer(command, { command: 'ls' })).toEqual({ decision: 'decline' });
  expect(await no.answer(tool, { serverName: 's', _meta: meta })).toEqual({ action: 'decline', content: null, _meta: null });
});

test('asks about a change of files with its diff, and declines an unknown change', async () => {
  const { answer, asked, saw } = open();
  expect(await answer(patch, { itemId: 'i1' })).toEqual({ decision: 'decline' });
  const changes = [{ path: '/a', diff: '+hi' }, { path: '/b' }];
  saw({ method: 'item/started', params: { item: { type: 'fileChange', id: 'i1', changes, status: 'inProgress' } } });
  expect(await answer(patch, { itemId: 'i1' })).toEqual({ decision: 'accept' });
  expect(asked).toEqual(['May the assistant change these files?\n\n/a\n+hi\n\n/b\n']);
});

test.each([
  ['item/permissions/requestApproval', { permissions: {} }],
  ['item/tool/requestUserInput', { questions: [] }],
  ['execCommandApproval', { command: ['ls'] }],
  [command, { command: null }],
  [tool, { serverName: 's', mode: 'url', _meta: null, message: 'log in' }],
  [tool, { serverName: 's', _meta: { codex_approval_kind: 'other' } }],
])('declines %s %j without asking', async (method, params) => {
  const { answer, asked } = open();
  expect(JSON.stringify(await answer(method, params))).toContain('decline');
  expect(asked).toEqual([]);
});
