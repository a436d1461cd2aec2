import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addPersonCommand, type TrustRequest } from './person-command.ts';

async function parse(...args: string[]): Promise<TrustRequest | undefined> {
  let asked: TrustRequest | undefined;
  const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
  const take = async (request: TrustRequest) => void (asked = request);
  addPersonCommand(program, take);
  for (const command of program.commands.flatMap((inner) => [inner, ...inner.commands])) command.exitOverride();
  await program.parseAsync(args, { from: 'user' });
  return asked;
}

test.each([
  [['person'], { action: 'list' }],
  [['person', 'list', '--json'], { action: 'list', json: true }],
  [['person', 'add', 'anna', 'Anna', 'Kern', '-r', 'known'], { action: 'add', key: 'anna', name: 'Anna Kern', role: 'known' }],
  [['person', 'link', 'anna', 'messenger', '42'], { action: 'link', key: 'anna', surface: 'messenger', value: '42' }],
  [['person', 'unlink', 'anna', 'messenger', '42'], { action: 'unlink', keyOrId: 'anna', surface: 'messenger', value: '42' }],
  [['person', 'unlink', 'identifier_1'], { action: 'unlink', keyOrId: 'identifier_1' }],
  [
    ['person', 'grant', 'anna', 'trusted', '-s', 'email', '-c', 'k'],
    { action: 'grant', key: 'anna', role: 'trusted', surface: 'email', conversation: 'k' },
  ],
  [
    ['person', 'revoke', 'anna', 'trusted', '-s', 'email'],
    { action: 'revoke', keyOrId: 'anna', role: 'trusted', surface: 'email' },
  ],
  [['person', 'invite'], { action: 'invite' }],
  [['person', 'invite', 'anna', '-s', 'messenger'], { action: 'invite', key: 'anna', surface: 'messenger' }],
  [['person', 'invite', '--name', 'Tom Berg', '-r', 'guest'], { action: 'invite', name: 'Tom Berg', role: 'guest' }],
  [['person', 'uninvite', 'invitation_1'], { action: 'uninvite', id: 'invitation_1' }],
  [['person', 'revoke', 'grant_1'], { action: 'revoke', keyOrId: 'grant_1' }],
  [['person', 'disable', 'anna'], { action: 'disable', key: 'anna' }],
  [['person', 'enable', 'anna'], { action: 'enable', key: 'anna' }],
  [['person', 'remove', 'anna', '--json'], { action: 'remove', key: 'anna', json: true }],
  [['person', 'erase', 'anna'], { action: 'erase', key: 'anna' }],
  [['person', 'erase', 'anna', '--keep-shared', '-y'], { action: 'erase', key: 'anna', keepShared: true, yes: true }],
  [
    ['person', 'explain', 'email', 'a@b.c', '-p', '-k', 'k'],
    { action: 'explain', surface: 'email', value: 'a@b.c', public: true, key: 'k' },
  ],
  [['person', 'audit'], { action: 'audit', lines: 30 }],
  [['person', 'audit', 'anna', '-n', '5'], { action: 'audit', key: 'anna', lines: 5 }],
])('parses %j', async (args, request) => {
  expect(JSON.parse(JSON.stringify(await parse(...args)))).toEqual(request);
});

test('--until takes a duration', async () => {
  const before = Date.now();
  const request = await parse('person', 'grant', 'anna', 'trusted', '--until', '7d');
  expect((request as { until: number }).until - before - 7 * 86_400_000).toBeLessThan(60_000);
});

test.each([
  [['person', 'add', 'anna']],
  [['person', 'link', 'anna', 'email']],
  [['person', 'grant', 'anna']],
  [['person', 'grant', 'anna', 'known', '--until', 'soon']],
  [['person', 'audit', '-n', '0']],
  [['person', 'nonsense']],
])('rejects %j', async (args) => {
  await expect(parse(...args)).rejects.toThrow();
});
