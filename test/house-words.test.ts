import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { pages, read, root } from './repository.ts';

/** Words that were written too often here, each with what to write instead. Read a sentence aloud once: the field has a word for it. */
const refused: readonly [pattern: RegExp, better: string][] = [
  [/\banew\b/i, 'again, new'],
  [/\bmend(?:s|ed|ing)?\b/i, 'fix, repair'],
  [/\bsomebody\b/i, 'a person, someone'],
  [/\btells? of\b/i, 'reports, shows'],
  [/\bwhoever is nobody\b|\bnobody here\b/i, 'a stranger'],
  [/\bhow (?:they|it) stands?\b/i, 'their state'],
  [/\bin words(?! of)\b/i, 'as text'],
];

/** Names of the code that people know by others. They are allowed in code (`SACRED`). */
const ofTheCode: readonly [pattern: RegExp, better: string][] = [
  [/\b(?:SACRED|TRUSTED|KNOWN|GUEST)\b/, 'owner, trusted, known, guest'],
  [/\bprincipals?\b/i, 'person'],
  [/\bsurfaces?\b/i, 'channel'],
];

/** Written by `scripts/write-command-reference.ts` from texts of the CLI. */
const generated = ['docs/commands.md'];
/** For those who call the API or read the tests: the names of the code. */
const aboutCode = ['docs/api.md', 'docs/reliability.md'];

const code = ['.env.example', 'apps', 'bench', 'connectors', 'engines', 'packages', 'scripts', 'test'];

/** A name of a test whose subject is no noun: nobody knows what it is about. */
const names: typeof refused = [
  [
    /(?:\b(?:describe|test)|^ *\]\))\(['`](?:who|what|whoever|whatever|nobody|one that|which) /,
    'a noun as the subject, or a verb',
  ],
];

const prose = pages.filter((page) => !generated.includes(page));
const forPeople = prose.filter((page) => /^docs\/(?!decisions\/)|^README/.test(page) && !aboutCode.includes(page));

/** Replaces code and addresses by blanks, so that lines keep their numbers. */
const withoutCode = (page: string): string =>
  page
    .replaceAll(/```[^]*?```/g, (block) => block.replaceAll(/[^\n]/g, ' '))
    .replaceAll(/`[^`\n]*`|\]\([^)\n]*\)/g, (part) => ' '.repeat(part.length));

const faultsIn = (file: string, text: string, words: typeof refused): string[] =>
  text.split('\n').flatMap((line, at) =>
    words.flatMap(([pattern, better]) => {
      const found = pattern.exec(line)?.[0];
      return found === undefined ? [] : [`${file}:${at + 1}: "${found}": ${better}`];
    }),
  );

/** Released migrations, which stay as they are, the words of a vendor, and the list of words itself. */
const unchecked = [
  'apps/collector/src/db/migrations/005-transcripts.sql',
  'apps/core/src/db/login-migrations/001-login.sql',
  'packages/testing/src/telegram-server/description/telegram-bot-api.json',
  'test/house-words.test.ts',
];

function filesBelow(place: string): string[] {
  if (!statSync(path.join(root, place)).isDirectory()) return [place];
  return readdirSync(path.join(root, place), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:tsx?|md|json|css|html|sql)$/.test(file) && !/node_modules|__snapshots__|(?:^|\/)dist\//.test(file))
    .map((file) => `${place}/${file}`)
    .filter((file) => !unchecked.includes(file));
}

describe('plain words', () => {
  test('names of tests', () => {
    const files = code.flatMap(filesBelow).filter((file) => file.endsWith('.test.ts'));
    expect(files.flatMap((file) => faultsIn(file, read(file), names))).toEqual([]);
  });

  test.each(prose)('%s', (page) => {
    expect(faultsIn(page, withoutCode(read(page)), refused)).toEqual([]);
  });

  test.each(code)('%s', (place) => {
    expect(filesBelow(place).flatMap((file) => faultsIn(file, read(file), refused))).toEqual([]);
  });
});

test.each(forPeople)('%s uses the names that people know, and those of the code only as code', (page) => {
  expect(faultsIn(page, withoutCode(read(page)), ofTheCode)).toEqual([]);
});

test('finds a refused word, with its line and a better one', () => {
  expect(faultsIn('a.md', 'One.\nIt tells of it anew.', refused)).toEqual([
    'a.md:2: "anew": again, new',
    'a.md:2: "tells of": reports, shows',
  ]);
  expect(faultsIn('a.test.ts', "test('who leaves waits', () => {", names)).toHaveLength(1);
  expect(withoutCode('`SACRED` [principal](principals.md)\n```\nanew\n```').replaceAll(' ', '')).toBe('[principal\n\n\n');
});
