import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addRoleCommand, type RoleRequest } from './role-command.ts';

async function parse(...args: string[]): Promise<RoleRequest | undefined> {
  let asked: RoleRequest | undefined;
  const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
  addRoleCommand(program, async (request) => void (asked = request));
  for (const command of program.commands.flatMap((inner) => [inner, ...inner.commands])) command.exitOverride();
  await program.parseAsync(args, { from: 'user' });
  return asked;
}

test.each([
  [['role'], { action: 'list' }],
  [
    ['role', 'add', 'reader', '--tier', 'known', '--tools', 'read'],
    { action: 'add', name: 'reader', tier: 'KNOWN', tools: 'read' },
  ],
  [
    ['role', 'set', 'owner', '--tier', 'owner', '--channels', 'all', '--tool-servers', 'none', '--about', 'x'],
    { action: 'set', name: 'owner', tier: 'SACRED', channels: 'all', toolServers: 'none', about: 'x' },
  ],
  [['role', 'set', 'owner', '--asks', 'dangerous'], { action: 'set', name: 'owner', asks: 'dangerous' }],
  [['role', 'remove', 'reader', '--json'], { action: 'remove', name: 'reader', json: true }],
])('parses %j', async (args, request) => {
  expect(await parse(...args)).toEqual(request);
});

test.each([
  ['an invalid tier', ['role', 'add', 'x', '--tier', 'king', '--tools', 'read']],
  ['an invalid policy', ['role', 'add', 'x', '--tier', 'known', '--tools', 'all']],
  ['an invalid way to ask', ['role', 'set', 'x', '--asks', 'often']],
  ['a role without a tier', ['role', 'add', 'x', '--tools', 'read']],
  ['a role without a policy', ['role', 'add', 'x', '--tier', 'known']],
])('rejects %s', async (_what, args) => {
  await expect(parse(...args)).rejects.toThrow();
});
