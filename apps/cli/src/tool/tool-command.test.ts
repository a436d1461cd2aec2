import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addToolCommand, type ToolRequest } from './tool-command.ts';

async function parse(...args: string[]): Promise<ToolRequest | undefined> {
  let asked: ToolRequest | undefined;
  const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
  addToolCommand(program, async (request) => void (asked = request));
  for (const command of program.commands.flatMap((inner) => [inner, ...inner.commands])) command.exitOverride();
  await program.parseAsync(['tool', ...args], { from: 'user' });
  return asked;
}

test.each([[[]], [['list']]])('"svc tool %j" lists the servers', async (args) => {
  expect(await parse(...args)).toEqual({ action: 'list' });
});

test('words after "--" are the program and its arguments, including its options', async () => {
  expect(await parse('add', 'files', '--safe', '-e', 'A=b=c', '-e', 'D=', '--', 'npx', '-y', 'server', '--json')).toEqual({
    action: 'add',
    name: 'files',
    fields: { command: 'npx', args: ['-y', 'server', '--json'], env: { A: 'b=c', D: '' }, safe: true },
    test: true,
  });
});

test('a remote server has an address and headers', async () => {
  const header = 'Authorization: Bearer ${secret:T}';
  expect(await parse('add', 'hub', '--url', 'https://x.example/mcp', '-H', header, '--off', '--json')).toEqual({
    action: 'add',
    name: 'hub',
    fields: { url: 'https://x.example/mcp', headers: { Authorization: 'Bearer ${secret:T}' }, enabled: false },
    test: true,
    json: true,
  });
});

test.each([
  [['remove', 'hub'], { action: 'remove', name: 'hub' }],
  [['toggle', 'hub', '--json'], { action: 'toggle', name: 'hub', json: true }],
  [['test', 'hub'], { action: 'test', name: 'hub', limitMs: 60_000 }],
  [['test', 'hub', '--limit', '300', '--json'], { action: 'test', name: 'hub', limitMs: 300_000, json: true }],
  [['add', 'x', '--no-test', '--', 'y'], { action: 'add', name: 'x', fields: { command: 'y', args: [] }, test: false }],
  [['import', 'a.json', '--replace'], { action: 'import', file: 'a.json', replace: true }],
])('parses %j', async (args, request) => expect(await parse(...args)).toEqual(request));

test('the help of "svc tool test" shows its limit in seconds', () => {
  const program = new Command();
  addToolCommand(program, async () => undefined);
  const help = program.commands[0]?.commands.find((command) => command.name() === 'test')?.helpInformation();
  expect(help).toContain('(default: 60)');
});

test.each([
  [['add']],
  [['add', 'x', '-e', 'novalue', '--', 'y']],
  [['toggle']],
  [['test']],
  [['test', 'x', '--limit', '0']],
  [['test', 'x', '--limit', '301']],
  [['test', 'x', '--limit', 'y']],
  [['import']],
  [['nonsense']],
])('rejects %j', async (args) => {
  await expect(parse(...args)).rejects.toThrow();
});
