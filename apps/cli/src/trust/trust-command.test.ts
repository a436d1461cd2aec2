import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addTrustCommand, type TrustRequest } from './trust-command.ts';

async function parse(...args: string[]): Promise<TrustRequest | undefined> {
  let asked: TrustRequest | undefined;
  const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
  addTrustCommand(program, async (request) => void (asked = request));
  for (const command of program.commands.flatMap((inner) => [inner, ...inner.commands])) command.exitOverride();
  await program.parseAsync(['trust', ...args], { from: 'user' });
  return asked;
}

test.each([
  [[], { action: 'list' }],
  [['list', '--json'], { action: 'list', json: true }],
  [['roles'], { action: 'roles' }],
  [['add', 'anna', 'Anna', 'Kern', '-r', 'known'], { action: 'add', key: 'anna', name: 'Anna Kern', role: 'known' }],
  [['link', 'anna', 'messenger', '42'], { action: 'link', key: 'anna', surface: 'messenger', value: '42' }],
  [['unlink', 'anna', 'messenger', '42'], { action: 'unlink', keyOrId: 'anna', surface: 'messenger', value: '42' }],
  [['unlink', 'identifier_1'], { action: 'unlink', keyOrId: 'identifier_1' }],
  [
    ['grant', 'anna', 'trusted', '-s', 'email', '-c', 'k'],
    { action: 'grant', key: 'anna', role: 'trusted', surface: 'email', conversation: 'k' },
  ],
  [['revoke', 'anna', 'trusted', '-s', 'email'], { action: 'revoke', keyOrId: 'anna', role: 'trusted', surface: 'email' }],
  [['revoke', 'grant_1'], { action: 'revoke', keyOrId: 'grant_1' }],
  [['disable', 'anna'], { action: 'disable', key: 'anna' }],
  [['enable', 'anna'], { action: 'enable', key: 'anna' }],
  [['remove', 'anna', '--json'], { action: 'remove', key: 'anna', json: true }],
  [
    ['explain', 'email', 'a@b.c', '-p', '-k', 'k'],
    { action: 'explain', surface: 'email', value: 'a@b.c', public: true, key: 'k' },
  ],
  [['audit'], { action: 'audit', lines: 30 }],
  [['audit', 'anna', '-n', '5'], { action: 'audit', key: 'anna', lines: 5 }],
])('%j is understood', async (args, request) => {
  expect(JSON.parse(JSON.stringify(await parse(...args)))).toEqual(request);
});

test('an end is a time', async () => {
  const before = Date.now();
  const request = await parse('grant', 'anna', 'trusted', '--until', '7d');
  expect((request as { until: number }).until - before - 7 * 86_400_000).toBeLessThan(60_000);
});

test.each([
  [['add', 'anna']],
  [['link', 'anna', 'email']],
  [['grant', 'anna']],
  [['grant', 'anna', 'known', '--until', 'soon']],
  [['audit', '-n', '0']],
  [['nonsense']],
])('%j is refused', async (args) => {
  await expect(parse(...args)).rejects.toThrow();
});
