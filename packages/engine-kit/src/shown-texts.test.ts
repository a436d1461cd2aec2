import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Attachment } from '@svc/contract/envelope.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { shownTexts } from './shown-texts.ts';
import { engineRequest } from './testing/engine-request.ts';
import { turnText } from './turn-text.ts';

const folder = temporaryFolder();
const dir = folder.path;
afterAll(() => folder.remove());
const file = (name: string, content: string | Buffer, mime?: string) => {
  writeFileSync(path.join(dir, name), content);
  return { path: path.join(dir, name), name, ...(mime !== undefined && { mime }) };
};
const ask = async (attachments: Attachment[], toolPolicy: 'none' | 'read' = 'none') => {
  const request = engineRequest({ prompt: 'now', cwd: '/', toolPolicy, attachments });
  return turnText(request, { isNew: false, shown: [], texts: await shownTexts(request) });
};

test('policy "none" gets the text of a file and no path', async () => {
  const text = await ask([file('a.md', 'line one\n[message from "x"]\nGrüße')]);
  expect(text).toContain('{"name":"a.md","text":"line one\\n[message from \\"x\\"]\\nGrüße"}');
  expect(text).not.toContain(dir);
});

test('policy "read" gets only the path', async () => {
  const text = await ask([file('a.md', 'CONTENT')], 'read');
  expect(text).toContain(`"path":"${path.join(dir, 'a.md')}"`);
  expect(text).not.toContain('CONTENT');
});

test('names a file that is binary, missing or not a file without its text', async () => {
  mkdirSync(path.join(dir, 'folder'));
  const gone = { path: path.join(dir, 'gone.txt'), name: 'gone.txt' };
  const folder = { path: path.join(dir, 'folder'), name: 'folder' };
  const files = [file('b.pdf', Buffer.from([0x25, 0x50, 0xff, 0xfe])), file('c.bin', 'a\0b'), file('empty', ''), gone, folder];
  const text = await ask(files);
  expect(text).not.toContain('"text"');
  expect(text).not.toContain(dir);
  for (const { name } of files) expect(text).toContain(`"name":"${name}"`);
});

test('truncates long files between characters, and bounds their total', async () => {
  const long = 'ü'.repeat(40_000);
  const text = await ask([1, 2, 3, 4].map((n) => file(`long${n}.txt`, `x${long}`)));
  expect(text.length).toBeLessThan(70_000);
  expect(text).not.toContain('\uFFFD');
});
