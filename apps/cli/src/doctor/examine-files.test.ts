import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { examineClock } from './examine-clock.ts';
import { glanceAtDatabases } from './glance-at-databases.ts';
import { examineFiles } from './examine-files.ts';
import { examineSupervisor } from './examine-supervisor.ts';

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const at = (name: string) => path.join(folder.path, name);
function put(name: string, text: string, mode = 0o600): void {
  mkdirSync(path.dirname(at(name)), { recursive: true, mode: 0o700 });
  writeFileSync(at(name), text);
  chmodSync(at(name), mode);
}
const found = async () => {
  const findings = await examineFiles({ root: folder.path, dataDir: folder.path, secretsFile: at('my secrets.json') });
  const shortened = (text: string) => text.replaceAll(folder.path, '');
  return findings.map(({ state, text, fix }) => ({ state, text: shortened(text), fix: shortened(fix ?? '') }));
};
const keys = '{"keys":[{"key":"sk-1","identity":"owner"}]}';

test('missing files are not reported', async () => {
  expect(await found()).toEqual([]);
});

test('secrets and keys readable only by this user are ok', async () => {
  put('my secrets.json', '{"A":"b"}');
  put('instances/compat/keys.json', keys);
  put('instances/device-2/keys.json', '{"keys":[]}');
  expect((await found()).map(({ state }) => state)).toEqual(['ok', 'ok', 'ok']);
});

const edit = '"${EDITOR:-vi}"';

test.each([
  ['secrets that others can read', 'my secrets.json', '{}', 0o644, "chmod 600 '/my secrets.json'"],
  ['secrets that the group can read', 'my secrets.json', '{}', 0o640, "chmod 600 '/my secrets.json'"],
  ['secrets that are no JSON', 'my secrets.json', '{"A": "b",}', 0o600, `${edit} '/my secrets.json'`],
  ['secrets that are a list', 'my secrets.json', '[]', 0o600, `${edit} '/my secrets.json'`],
  ['keys that others can read', 'instances/compat/keys.json', keys, 0o604, 'chmod 600 /instances/compat/keys.json'],
  ['keys without a key', 'instances/compat/keys.json', '{"keys":[]}', 0o600, `${edit} /instances/compat/keys.json`],
])('reports %s', async (_, name, text, mode, fix) => {
  put(name, text, mode);
  expect(await found()).toMatchObject([{ state: 'problem', fix }]);
});

test.each([
  [0o644, 'others'],
  [0o640, 'the group'],
  [0o602, 'others, to write it'],
])('notes that .env with mode %o is open to %s', async (mode) => {
  put('.env', 'A=b', mode);
  expect(await found()).toEqual([
    { state: 'note', text: '/.env can be read by other users of this machine', fix: 'chmod 600 /.env' },
  ]);
});

test('notes readable secret files that .env names, but not other values or public certificates', async () => {
  put('of google.json', '{}', 0o644);
  put('closed.key', '', 0o600);
  put('roots.pem', '', 0o644);
  put(
    '.env',
    [
      `GOOGLE_APPLICATION_CREDENTIALS="${at('of google.json')}"`,
      `DEPLOY_KEY_FILE=${at('closed.key')}`,
      `SSL_CERT_FILE=${at('roots.pem')}`,
      `SOME_TOKEN=/not/a/file`,
      `OTHER_KEY=${folder.path}`,
      `PLAIN_KEY=sk-1`,
    ].join('\n'),
  );
  expect(await found()).toEqual([
    {
      state: 'note',
      text: 'the file that GOOGLE_APPLICATION_CREDENTIALS in .env names can be read by other users of this machine',
      fix: '(. /.env && chmod 600 "$GOOGLE_APPLICATION_CREDENTIALS")',
    },
  ]);
  execFileSync('sh', ['-c', `(. ${at('.env')} && chmod 600 "$GOOGLE_APPLICATION_CREDENTIALS")`]);
  expect(await found()).toEqual([]);
});

test('the content of an invalid file is not quoted', async () => {
  put('my secrets.json', '{"TOKEN": hunter2}');
  expect(JSON.stringify(await found())).not.toContain('hunter2');
});

test('reports a folder in place of the secrets file', async () => {
  mkdirSync(at('my secrets.json'));
  expect(await found()).toMatchObject([{ state: 'problem', text: '/my secrets.json is not a file' }]);
});

test('reports a clock that is behind the data or this program', async () => {
  put('core.db', '');
  const now = Date.UTC(2027, 5, 1);
  utimesSync(at('core.db'), new Date(now), new Date(now));
  expect(await examineClock(folder.path, now)).toMatchObject([{ state: 'ok' }]);
  expect(await examineClock(folder.path, now - 60_000)).toMatchObject([{ state: 'ok' }]);
  const behind = 'it is behind: core.db was written 3 h 0 min from now';
  expect(await examineClock(folder.path, now - 3 * 3_600_000)).toMatchObject([{ state: 'problem', text: behind }]);
  expect(await examineClock(folder.path, 0)).toMatchObject([{ state: 'problem' }]);
  expect(await examineClock(at('nowhere'), now)).toEqual([]);
});

test('reports a database with a foreign header or a truncated one', async () => {
  const header = Buffer.alloc(4096);
  header.write('SQLite format 3\0');
  header.writeUInt16BE(4096, 16);
  writeFileSync(at('manager.db'), header);
  writeFileSync(at('core.db'), '');
  expect(await glanceAtDatabases(folder.path)).toEqual([]);
  writeFileSync(at('manager.db'), header.subarray(0, 2000));
  writeFileSync(at('core.db'), 'nonsense'.repeat(1000));
  expect((await glanceAtDatabases(folder.path)).map(({ text }) => path.basename(text))).toEqual([
    'core.db is damaged: file is not a database',
    'manager.db is damaged: the file is truncated',
  ]);
});

test('reports no supervisor for a data folder that was never used', async () => {
  expect(await examineSupervisor(folder.path, null)).toEqual([]);
});
