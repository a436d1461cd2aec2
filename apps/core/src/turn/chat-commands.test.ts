import { expect, test } from 'vitest';
import { chatCommands, describeChatCommands } from '@svc/contract/chat-command.ts';

test('every command can be registered on a platform with a menu, and no name is there twice', () => {
  for (const { name, description } of chatCommands) {
    expect(name).toMatch(/^[a-z]{1,32}$/);
    expect(description).toMatch(/^.{1,100}$/);
  }
  expect(new Set(chatCommands.map(({ name }) => name)).size).toBe(chatCommands.length);
});

test('a list shows each with what it takes, in one column', () => {
  const args = [
    { name: 'id', description: '', required: true },
    { name: 'why', description: '', required: false },
  ];
  const engine = { name: 'engine', description: 'choose an engine', floor: 'KNOWN', waits: false, args } as const;
  expect(describeChatCommands([engine, chatCommands[1]])).toBe(
    '/engine ID [WHY]  choose an engine\n/stop             stop the running turn',
  );
  expect(describeChatCommands([])).toBe('');
});
