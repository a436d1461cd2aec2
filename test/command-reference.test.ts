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

test('docs/commands.md shows every command there is', () => {
  expect(read('docs/commands.md')).toBe(commandReference());
});

test('the README leads to the page of all commands', () => {
  expect(read('README.md')).toContain('(docs/commands.md)');
});

/** What may follow `./svc` itself in a sentence. */
const prose = new Set(['uses', 'provisions']);

/** As deep as the words name commands; null when they begin with none. `isQuoted`: nothing but the command stands there. */
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

test('pages and messages name no command that does not exist', () => {
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
