import { chatCommands } from '@svc/connector-kit';
import { expect, test } from 'vitest';
import { registerCommands, toBotCommands } from './register-commands.ts';
import { setUpOutgoing } from './testing/fake-bot-api.ts';

type Menu = { scope: { type: string }; commands: { command: string; description: string }[] };

/** The menus as Telegram stores them. */
async function setUp() {
  const out = await setUpOutgoing();
  const menus = new Map<string, Menu['commands']>();
  out.answers['getMyCommands'] = ({ scope }) => menus.get(scope.type) ?? [];
  out.answers['setMyCommands'] = ({ scope, commands }) => menus.set(scope.type, commands);
  out.answers['deleteMyCommands'] = ({ scope }) => menus.delete(scope.type);
  const shown = () => Object.fromEntries([...menus].map(([type, commands]) => [type, commands.map(({ command }) => command)]));
  return { ...out, menus, shown };
}

test('sets all commands in private chats and fewer in groups, and leaves correct menus alone', async () => {
  const { call, shown, calls } = await setUp();
  expect(await registerCommands(call, chatCommands)).toBe(true);
  expect(shown()).toEqual({
    all_private_chats: ['new', 'stop', 'status', 'usage', 'help'],
    all_group_chats: ['new', 'stop', 'status', 'help'],
  });
  const asked = calls.length;
  expect(await registerCommands(call, chatCommands)).toBe(false);
  expect(calls.slice(asked).map(({ method }) => method)).toEqual(['getMyCommands', 'getMyCommands', 'getMyCommands']);
});

test('updates only a menu that differs, and removes others', async () => {
  const { call, shown, menus, named } = await setUp();
  await registerCommands(call, chatCommands);
  menus.set('default', [{ command: 'old', description: 'of a version before' }]);
  menus.set('all_group_chats', []);
  expect(await registerCommands(call, chatCommands)).toBe(true);
  expect(named('setMyCommands')).toHaveLength(3);
  expect(named('deleteMyCommands')).toEqual([{ scope: { type: 'default' } }]);
  await registerCommands(call, []);
  expect(shown()).toEqual({});
});

test('converts names to those that Telegram accepts', () => {
  const named = (name: string, description = 'x') => ({ name, description, floor: 'GUEST', waits: false, args: [] }) as const;
  expect(
    toBotCommands([named('a-b'), named('Über'), named('x'.repeat(33)), named('ok', ''), named('long', 'y'.repeat(300))]),
  ).toEqual([
    { command: 'a_b', description: 'x' },
    { command: 'long', description: 'y'.repeat(256) },
  ]);
});
