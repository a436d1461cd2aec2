import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { isReadablePattern, readablePath } from './path-policy.ts';

const folder = temporaryFolder();
const dir = realpathSync(folder.path);
const cwd = path.join(dir, 'cwd');
const filesDir = path.join(dir, 'files');
for (const folder of [cwd, filesDir, `${cwd}-beside`, path.join(cwd, 'sub'), path.join(dir, 'other')]) mkdirSync(folder);
for (const file of ['cwd/a.txt', 'cwd/sub/b.txt', 'files/c.pdf', 'cwd-beside/d.txt', 'other/e.txt', 'cwd/~'])
  writeFileSync(path.join(dir, file), 'x');
symlinkSync(path.join(dir, 'other'), path.join(cwd, 'out'));
symlinkSync(path.join(dir, 'other/e.txt'), path.join(cwd, 'out.txt'));
symlinkSync(path.join(cwd, 'sub'), path.join(cwd, 'in'));
afterAll(() => folder.remove());
const scope = { cwd, filesDir };

describe('readablePath()', () => {
  test.each([
    ['a.txt', 'cwd/a.txt'],
    ['sub/../a.txt', 'cwd/a.txt'],
    ['in/b.txt', 'cwd/sub/b.txt'],
    ['.', 'cwd'],
    [path.join(filesDir, 'c.pdf'), 'files/c.pdf'],
    [`../files/c.pdf`, 'files/c.pdf'],
  ])('resolves %s within the folder or the files of the conversation', (target, real) => {
    expect(readablePath(scope, target)).toBe(path.join(dir, real));
  });

  test.each([
    '..',
    '/',
    '/etc/passwd',
    '../other/e.txt',
    'sub/../../other/e.txt',
    `${cwd}-beside/d.txt`,
    'out',
    'out/e.txt',
    'out.txt',
    'out/../../cwd-beside/d.txt',
    '~',
    '~/x',
    ' a.txt',
    'a.txt\n',
    'a.txt\0',
    'nowhere.txt',
    'file:///etc/passwd',
    '..\\other\\e.txt',
    '‥/other/e.txt',
    '．．/other/e.txt',
    '\ud800',
    '',
    undefined,
    null,
    7,
    ['a.txt'],
  ])('rejects %j', (target) => {
    expect(readablePath(scope, target)).toBeNull();
  });

  test('rejects paths of a missing folder, and of files that the conversation does not have', () => {
    expect(readablePath({ cwd: '/nowhere', filesDir: null }, '/nowhere')).toBeNull();
    expect(readablePath({ cwd, filesDir: null }, path.join(filesDir, 'c.pdf'))).toBeNull();
  });
});

describe('isReadablePattern()', () => {
  test.each([
    '*',
    '**/*',
    '*.{ts,tsx}',
    'sub/*.txt',
    'in/*',
    'src/**/*.test.ts',
    'notes für mich.md',
    '{src,test}/**',
    '!*.log',
    '.env*',
    'nowhere/*',
  ])('accepts %s', (pattern) => {
    expect(isReadablePattern(scope, pattern)).toBe(true);
  });

  test.each([
    '/root/**/*',
    '/**',
    '//server/x',
    '../*',
    '../../*.json',
    'sub/../../*',
    'sub/..',
    '*/../../*',
    '**/../*',
    '{a,/etc/*}',
    '{a,../*}',
    '{.,}./x',
    '.{.,}/x',
    '.{,a}./x',
    '{,/etc}/*',
    '{,a}/etc/*',
    'a{b,,c}',
    '{{a,.},b}./x',
    '{1..3}',
    '[.][.]/x',
    '[.]./x',
    '.[.]/*',
    '@(..)/x',
    '+(.)/x',
    '?(.)./x',
    '\\.\\./x',
    '..\\x',
    'C:\\Users\\*',
    'C:/Users/*',
    '~/*',
    '~root/*',
    'out/*',
    'out/**',
    'in/../../other/*',
    '$HOME/*',
    '%HOME%/*',
    '`id`',
    '‥/x',
    '．．／x',
    '․․/x',
    '..／x',
    '⁄etc⁄*',
    '∕etc∕*',
    '℀',
    '*\0',
    '*\n../*',
    '"',
    '',
    'a'.repeat(1001),
    undefined,
    ['*'],
  ])('rejects %j', (pattern) => {
    expect(isReadablePattern(scope, pattern)).toBe(false);
  });

  test('resolves a pattern from the folder it is used in', () => {
    expect(isReadablePattern(scope, 'out/*', path.join(cwd, 'sub'))).toBe(true);
    expect(isReadablePattern(scope, '*', path.join(dir, 'other'))).toBe(false);
  });

  const piece = fc.constantFrom(
    '.',
    '..',
    '/',
    '\\',
    '{',
    '}',
    ',',
    '*',
    '?',
    '[',
    ']',
    '(',
    ')',
    '|',
    '!',
    '@',
    '~',
    'a',
    'src',
    ' ',
    '．',
  );
  const pattern = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));

  test('no expansion of an accepted pattern is absolute or climbs', () => {
    fc.assert(
      fc.property(pattern, (text) => {
        fc.pre(isReadablePattern(scope, text));
        for (const spelling of expandBraces(text)) {
          expect(spelling.startsWith('/')).toBe(false);
          expect(spelling.split('/')).not.toContain('..');
          expect(`${path.resolve(cwd, spelling)}/`.startsWith(`${cwd}/`)).toBe(true);
        }
      }),
      { numRuns: 5000 },
    );
  });
});

/** Every expansion of the braces, written as naively as a matcher could do it. */
function expandBraces(text: string): string[] {
  const group = /\{([^{}]*)\}/.exec(text);
  if (group === null) return [text];
  const spellings = (group[1] ?? '').split(',').map((part) => text.replace(group[0], () => part));
  return spellings.flatMap(expandBraces);
}
