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

/** Code whose texts and comments are checked, as files and folders. Extended whenever a folder was read through. */
const code = [
  '.env.example',
  'apps/cli/src',
  'apps/collector/src',
  'apps/core/src',
  'apps/dashboard/app',
  'apps/dashboard/src',
  'apps/manager/src',
  'apps/toolbelt/src',
  'apps/vault/src',
  'connectors',
  'engines',
  'packages/chat-ui',
  'packages/connector-kit',
  'packages/contract',
  'packages/device-gateway/app',
  'packages/engine-kit',
  'packages/service-kit',
  'packages/store',
  'packages/supervisor',
  'scripts',
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

/** Migrations stay as they were released. */
const released = ['apps/collector/src/db/migrations/005-transcripts.sql', 'apps/core/src/db/login-migrations/001-login.sql'];

function filesBelow(place: string): string[] {
  if (!statSync(path.join(root, place)).isDirectory()) return [place];
  return readdirSync(path.join(root, place), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:tsx?|md|json|css|html|sql)$/.test(file) && !/node_modules|__snapshots__|(?:^|\/)dist\//.test(file))
    .map((file) => `${place}/${file}`)
    .filter((file) => !released.includes(file));
}

describe('plain words', () => {
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
  expect(withoutCode('`SACRED` [principal](principals.md)\n```\nanew\n```').replaceAll(' ', '')).toBe('[principal\n\n\n');
});
