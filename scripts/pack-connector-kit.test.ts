import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Attachment, attachmentSchema, Capabilities, capabilitiesSchema } from '@svc/contract/envelope.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { newConnector } from '../apps/cli/src/connector/own-connector.ts';
import type { Static } from './pack-connector-kit/plain-schema.ts';

const root = path.resolve(import.meta.dirname, '..');
let folder: TemporaryFolder;
let dir: string;

const node = (...args: string[]): string =>
  execFileSync(process.execPath, args, { cwd: dir, encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: folder.path } });

/** A connector from the template, outside of this repository, with only the published package. */
beforeAll(() => {
  folder = temporaryFolder();
  const pack = path.join(root, 'scripts/pack-connector-kit.ts');
  const file = execFileSync(process.execPath, [pack, folder.path], { encoding: 'utf8' }).trim();
  dir = newConnector({ name: 'far-away', parent: folder.path, root });
  rmSync(path.join(dir, 'node_modules'), { recursive: true });
  const args = ['install', '--prefix', dir, '--offline', '--no-audit', '--no-fund', '--loglevel=error', file];
  execFileSync('npm', args, { cwd: dir, encoding: 'utf8' });
});
afterAll(() => folder.remove());

test('plain Node imports the packed kit by its name, with the promised exports', () => {
  const list = (name: string) =>
    node('--input-type=module', '-e', `console.log(Object.keys(await import('${name}')).sort().join(' '))`).trim();
  expect(list('@svc/connector-kit').split(' ')).toMatchSnapshot();
  expect(list('@svc/connector-kit/testing').split(' ')).toMatchSnapshot();
  expect(list('@svc/connector-kit/markdown')).toBe(
    'cleanText discordMarkdown endOf isBlank languageName mark plainText readMarks renderMarkdown sliceFormatted splitFormatted telegramHtml tidyEntities withSpoilers',
  );
  expect(() => list('@svc/connector-kit/core-link.ts')).toThrow('ERR_PACKAGE_PATH_NOT_EXPORTED');
});

test('the package renders Markdown in a custom dialect, typed, outside of this repository', () => {
  const script = `import { plainText, renderMarkdown, telegramHtml, type Dialect } from '@svc/connector-kit/markdown';
    const shouting: Dialect = { ...plainText, strong: (inner) => inner.toUpperCase() };
    const text = '# Hi\\n**bold** & [x](https://a.b)';
    console.log(JSON.stringify([renderMarkdown(text, telegramHtml), renderMarkdown(text, shouting)]));`;
  writeFileSync(path.join(dir, 'src/dialects.ts'), script);
  expect(JSON.parse(node('src/dialects.ts'))).toEqual([
    '<b>Hi</b>\n\n<b>bold</b> &amp; <a href="https://a.b">x</a>',
    'Hi\n\nBOLD & x (https://a.b)',
  ]);
});

test('the tests of a connector run with the package', () => {
  expect(node('--test', '--test-reporter=tap', 'test/*.spec.ts')).toMatch(/# pass 2\d\n# fail 0/);
});

test('a connector type-checks strictly with the package alone', () => {
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
  const types = ['--typeRoots', path.join(root, 'node_modules/@types')];
  const check = () => node(tsc, '-p', '.', '--skipLibCheck', 'false', ...types);
  expect(check()).toBe('');
});

test('the package includes the licence of the parser', () => {
  const licence = readFileSync(path.join(dir, 'node_modules/@svc/connector-kit/dist/marked/LICENSE'), 'utf8');
  expect(licence).toContain('MarkedJS');
});

test('the package has no dependencies, and the version of the service', () => {
  const own = JSON.parse(readFileSync(path.join(dir, 'node_modules/@svc/connector-kit/package.json'), 'utf8')) as object;
  expect(own).not.toHaveProperty('dependencies');
  expect(own).toMatchObject({ version: readFileSync(path.join(root, 'VERSION'), 'utf8').trim(), license: 'MIT' });
});

test('the types that the package derives from schemas equal those of the contract', () => {
  const attachment: Attachment = { path: '/a', name: 'a', bytes: 1 } satisfies Static<typeof attachmentSchema>;
  const back: Static<typeof attachmentSchema> = attachment;
  const capabilities: Capabilities = { max_message_chars: 1 } satisfies Static<typeof capabilitiesSchema>;
  const again: Static<typeof capabilitiesSchema> = capabilities;
  // @ts-expect-error a path is required
  const wrong: Static<typeof attachmentSchema> = { name: 'a' };
  expect([back, again, wrong]).toHaveLength(3);
});
