import { expect, test } from 'vitest';
import type { ToolServerTest } from '@svc/contract/tool-server.ts';
import { plain } from '../terminal.ts';
import { renderTest, testFault } from './render-test.ts';

const failed = (fields: object) =>
  testFault({
    ok: true,
    name: 'kit',
    ms: 5,
    connected: false,
    fault: 'ended',
    reason: 'it ended',
    stderr: [],
    ...fields,
  } as Extract<ToolServerTest, { connected: false }>);

test('a server that answers is shown with its tools, one per line, without control characters', () => {
  const tools = [
    { name: 'echo', description: 'Says it back. And more.' },
    { name: 'a\u001B[2J', description: '' },
  ];
  const text = renderTest({ ok: true, name: 'kit', ms: 1234, connected: true, tools }, plain);
  expect(text.split('\n')[0]).toBe('✓ kit answers (1.2 s) and offers 2 tools:');
  expect(text).toContain('Says it back.');
  expect(text).not.toContain('And more');
  expect(text).not.toContain('\u001B');
});

test('an unreachable server is shown with the reason and the last output of its program', () => {
  const { message, why } = failed({ reason: 'its program ended', stderr: ['one', 'npm error 404'] });
  expect(message).toBe('kit cannot be reached.');
  expect(why).toBe('Its program ended. It wrote:\n  one\n  npm error 404');
});

test.each([
  ['no_program', './svc tool add kit -- /full/path/to/program'],
  ['refused', "./svc tool add kit --url ADDRESS -H 'Authorization: Bearer ${secret:NAME}'"],
  ['timeout', './svc tool test kit --limit 300'],
  ['ended', './svc tool test kit'],
])('the fault %s names the command that helps', (fault, run) => expect(failed({ fault }).run).toBe(run));
