import { expect, test } from 'vitest';
import { chatCommands, describeChatCommands } from '@svc/contract/chat-command.ts';

test('each command has a unique name and a description that platforms with a menu accept', () => {
  for (const { name, description } of chatCommands) {
    expect(name).toMatch(/^[a-z]{1,32}$/);
    expect(description).toMatch(/^.{1,100}$/);
  }
  expect(new Set(chatCommands.map(({ name }) => name)).size).toBe(chatCommands.length);
});

test('describeChatCommands() lists commands with their arguments in one column', () => {
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
