import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nearest, withoutHelpWord } from './find-command.ts';
import { allCommands } from './program.ts';

const top = allCommands().commands.map((command) => command.name());
const verbs = ['list', 'add', 'config', 'start', 'stop', 'restart', 'remove', 'new', 'test'];

test.each([
  ['statu', 'status'],
  ['Status', 'status'],
  ['satus', 'status'],
  ['conector', 'connector'],
  ['connectors', 'connector'],
  ['channels', 'connector'],
  ['chanel', 'connector'],
  ['people', 'person'],
  ['users', 'person'],
  ['mcp', 'tool'],
  ['start', 'up'],
  ['log', 'logs'],
  ['x', null],
  ['zzzzzz', null],
])('the nearest command to "%s" is %s', (word, name) => expect(nearest(word, top)).toBe(name));

test.each([
  ['install', 'add'],
  ['instal', 'add'],
  ['delete', 'remove'],
  ['rm', 'remove'],
  ['ls', 'list'],
  ['strat', 'start'],
])('the nearest connector command to "%s" is %s', (word, name) => expect(nearest(word, verbs)).toBe(name));

test('a name is nearest to itself and is found with one letter missing', () => {
  const long = top.filter((name) => name.length > 3);
  fc.assert(
    fc.property(fc.constantFrom(...long), fc.nat(), (name, at) => {
      const slip = name.slice(0, at % name.length) + name.slice((at % name.length) + 1);
      expect([nearest(name, top), nearest(slip, [name])]).toEqual([name, name]);
    }),
  );
});

test('nearest() accepts a word of any length', () => {
  fc.assert(fc.property(fc.string(), (word) => void nearest(word, top)));
  expect(nearest('status'.repeat(100_000), top)).toBeNull();
});

test.each([
  ['help', '--help'],
  ['help help', '--help'],
  ['help vault put', 'vault put --help'],
  ['vault help', 'vault --help'],
  ['vault help put', 'vault put --help'],
  ['chat help', 'chat help'],
  ['engine default help', 'engine default help'],
  ['nope help', 'nope help'],
])('"svc %s" becomes "svc %s"', (line, now) => {
  expect(withoutHelpWord(allCommands(), line.split(' ')).join(' ')).toBe(now);
});
