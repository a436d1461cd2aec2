import { expect, test } from 'vitest';
import { commandsBelow } from '../apps/cli/src/program/command-reference.ts';
import { pathOf } from '../apps/cli/src/program/find-command.ts';
import { allCommands } from '../apps/cli/src/program/program.ts';
import { commandReference } from '../scripts/write-command-reference.ts';
import { pages, read, sourcesOf } from './repository.ts';

const program = allCommands();
const paths = new Set(commandsBelow(program).map(pathOf));
const nouns = new Set(
  commandsBelow(program)
    .filter(({ commands }) => commands.length > 0)
    .map(pathOf),
);

test('docs/commands.md lists every command', () => {
  expect(read('docs/commands.md')).toBe(commandReference());
});

test('the README links to the page of all commands', () => {
  expect(read('README.md')).toContain('(docs/commands.md)');
});

/** Words that may follow `./svc` itself in a sentence. */
const prose = new Set(['uses', 'provisions']);

/** Follows the words while they name commands; null when they begin with none. `isQuoted`: the quotes contain only the command. */
function unknownIn(words: readonly string[], isQuoted: boolean): string | null {
  let path = './svc';
  for (const [at, word] of words.entries()) {
    if (paths.has(`${path} ${word}`)) path = `${path} ${word}`;
    else return (at === 0 && !prose.has(word)) || (isQuoted && nouns.has(path)) ? `${path} ${word}` : null;
  }
  return null;
}

const places = [...pages, ...['apps', 'packages', 'connectors', 'engines'].flatMap((dir) => sourcesOf(dir))].filter(
  (file) => file !== 'CHANGELOG.md' && !/\.test\.ts$|\/test\/|old-spellings/.test(file),
);

test('pages and messages name only commands that exist', () => {
  const wrong = places.flatMap((file) =>
    [...read(file).matchAll(/(["'`])?\.\/svc((?: [a-z][a-z-]*)+)(?![a-z-])(?=([^]|$))/g)].flatMap(
      ([, open, words = '', close]) => {
        const unknown = unknownIn(words.trim().split(' '), open !== undefined && open === close);
        return unknown === null ? [] : [`${file}: ${unknown}`];
      },
    ),
  );
  expect(places.length).toBeGreaterThan(300);
  expect(wrong).toEqual([]);
});
