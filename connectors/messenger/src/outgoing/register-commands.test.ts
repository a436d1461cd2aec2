import { chatCommands } from '@svc/connector-kit';
import { expect, it } from 'vitest';
import { registerCommands, toBotCommands } from './register-commands.ts';
import { setUpOutgoing } from './testing/fake-bot-api.ts';

it('makes the menu what the core knows, and leaves one alone that is so', async () => {
  const out = await setUpOutgoing();
  expect(await registerCommands(out.call, chatCommands)).toBe(true);
  const [{ commands }] = out.named('setMyCommands') as [{ commands: { command: string }[] }];
  expect(commands.map(({ command }) => command)).toEqual(chatCommands.map(({ name }) => name));
  out.answers['getMyCommands'] = () => commands;
  expect(await registerCommands(out.call, chatCommands)).toBe(false);
  expect(out.named('setMyCommands')).toHaveLength(1);
});

it('writes names as Telegram takes them', () => {
  const named = (name: string, description = 'x') => ({ name, description, floor: 'GUEST', waits: false, args: [] }) as const;
  expect(
    toBotCommands([named('a-b'), named('Über'), named('x'.repeat(33)), named('ok', ''), named('long', 'y'.repeat(300))]),
  ).toEqual([
    { command: 'a_b', description: 'x' },
    { command: 'long', description: 'y'.repeat(256) },
  ]);
});
