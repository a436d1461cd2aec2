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
])('"%s" is nearest to %s', (word, name) => expect(nearest(word, top)).toBe(name));

test.each([
  ['install', 'add'],
  ['instal', 'add'],
  ['delete', 'remove'],
  ['rm', 'remove'],
  ['ls', 'list'],
  ['strat', 'start'],
])('"%s" of a connector is nearest to %s', (word, name) => expect(nearest(word, verbs)).toBe(name));

test('a name is nearest to itself, and one slip never leads to nothing', () => {
  const long = top.filter((name) => name.length > 3);
  fc.assert(
    fc.property(fc.constantFrom(...long), fc.nat(), (name, at) => {
      const slip = name.slice(0, at % name.length) + name.slice((at % name.length) + 1);
      expect([nearest(name, top), nearest(slip, [name])]).toEqual([name, name]);
    }),
  );
});

test('a word of any length is looked at', () => {
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
])('"svc %s" is "svc %s"', (line, now) => {
  expect(withoutHelpWord(allCommands(), line.split(' ')).join(' ')).toBe(now);
});
