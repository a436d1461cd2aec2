import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { createConversationFiles, type ConversationFiles } from './conversation-files.ts';

let root: string;
let uploads: string;
let files: ConversationFiles;
const warnings: string[] = [];

beforeEach(() => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  root = realpathSync(folder.path);
  uploads = path.join(root, 'uploads');
  mkdirSync(path.join(uploads, '2026-11-22'), { recursive: true });
  files = createConversationFiles({
    folder: path.join(root, 'attachments'),
    uploads,
    log: { warn: (_fields: object, message?: string) => void warnings.push(message ?? '') },
  });
});

const upload = (name: string, text = name): string => {
  const file = path.join(uploads, '2026-11-22', name);
  writeFileSync(file, text);
  return file;
};
const contentOf = (file: string | undefined) => readFileSync(file ?? '', 'utf8');

test('a staged file stays readable for the conversation after its upload was deleted', async () => {
  const file = upload('a.txt');
  const [staged] = await files.stage('k', [{ path: file, name: 'a.txt' }]);
  rmSync(file);
  expect(staged).toMatchObject({ name: 'a.txt' });
  expect(staged?.path.startsWith(`${files.folderOf('k')}/`)).toBe(true);
  expect(contentOf(staged?.path)).toBe('a.txt');
});

test('staging is idempotent and links a file once', async () => {
  const file = upload('a.txt');
  const first = await files.stage('k', [{ path: file }, { path: file }]);
  expect(await files.stage('k', [{ path: file }, { path: file }])).toEqual(first);
  expect(statSync(file).nlink).toBe(2);
});

test('an upload that replaced an earlier one of the same path is staged again', async () => {
  const file = upload('a.txt', 'old');
  await files.stage('k', [{ path: file }]);
  rmSync(file);
  upload('a.txt', 'new');
  const [staged] = await files.stage('k', [{ path: file }]);
  expect(contentOf(staged?.path)).toBe('new');
});

test('only finished uploads are staged, and a message without files creates no folder', async () => {
  expect([await files.stage('empty', []), existsSync(files.folderOf('empty'))]).toEqual([[], false]);
  const file = upload('a.txt');
  rmSync(file);
  writeFileSync(path.join(root, 'private'), 'private');
  symlinkSync(path.join(root, 'private'), file);
  const asked = [
    file,
    path.join(uploads, 'manifest.jsonl'),
    path.join(uploads, '.staging/x/data'),
    path.join(root, 'private'),
    '/etc/passwd',
  ];
  const staged = await files.stage(
    'k',
    asked.map((each) => ({ path: each })),
  );
  expect(staged.map((each) => existsSync(each.path))).toEqual(asked.map(() => false));
  expect(staged.map(({ missing }) => missing)).toEqual(asked.map(() => true));
  expect(staged.every((each) => each.path.startsWith(files.folderOf('k')))).toBe(true);
});

test('a file that cannot be staged is marked as missing, and a sender cannot mark one so', async () => {
  const file = upload('a.txt');
  const claimed = { path: file, name: 'a.txt', missing: true };
  expect(await files.stage('k', [claimed])).toMatchObject([{ name: 'a.txt' }]);
  expect((await files.stage('k', [claimed]))[0]).not.toHaveProperty('missing');
  writeFileSync(files.folderOf('other'), 'in the way');
  expect(await files.stage('other', [{ path: file, name: 'a.txt' }])).toMatchObject([{ name: 'a.txt', missing: true }]);
  expect(warnings).toEqual(['an attachment could not be given to the engine']);
});

/** A folder on another file system, to which uploads cannot be linked. */
const elsewhere = '/dev/shm';
const isElsewhere = () => existsSync(elsewhere) && statSync(elsewhere).dev !== statSync(root).dev;

test.each([
  ['that links it', false],
  ['that has to copy it', true],
])('a file that is repeatedly swapped for a symlink is never read through it by a stage %s', async (_how, isCopied) => {
  if (isCopied && isElsewhere()) {
    const folder = mkdtempSync(path.join(elsewhere, 'attachments-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    files = createConversationFiles({ folder, uploads, log: { warn: () => undefined } });
  }
  const file = upload('a.txt', 'mine');
  const secret = path.join(root, 'private');
  writeFileSync(secret, 'private');
  const spare = path.join(uploads, '2026-11-22', 'spare');
  let isOver = false;
  const sometimes = async () => {
    for (let n = Math.ceil(Math.random() * 5); n > 0; n--) await new Promise(setImmediate);
  };
  const swapping = (async () => {
    while (!isOver) {
      renameSync(file, spare);
      symlinkSync(secret, file);
      await sometimes();
      rmSync(file);
      renameSync(spare, file);
      await sometimes();
    }
  })();
  const read = new Set<string>();
  for (let n = 0; n < 300; n++) {
    await sometimes();
    const [staged] = await files.stage(`k${n}`, [{ path: file }]);
    read.add(existsSync(staged?.path ?? '') ? contentOf(staged?.path) : 'nothing');
  }
  isOver = true;
  await swapping;
  expect(read).not.toContain('private');
  expect(read).toContain('mine');
});

test('a staged path maps back to its upload, and any other path is unchanged', async () => {
  const file = upload('a.txt');
  const [staged] = await files.stage('k', [{ path: file }]);
  expect(files.uploadOf(staged?.path ?? '')).toBe(file);
  for (const other of [file, '/etc/passwd', path.join(root, 'attachments'), '']) expect(files.uploadOf(other)).toBe(other);
});

test('forgetting a conversation deletes its staged files and keeps the uploads', async () => {
  const file = upload('a.txt');
  const [staged] = await files.stage('k', [{ path: file }]);
  await files.forget('k');
  await files.forget('never seen');
  expect(existsSync(staged?.path ?? '')).toBe(false);
  expect(contentOf(file)).toBe('a.txt');
});
