import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test, vi } from 'vitest';
import { keepSecrets } from './keep-present.ts';
import { maxPlainBytes } from './secret-files.ts';

test('a large file of an instance is kept without being read, since Node cannot read one over 2 GiB', () => {
  const { path: root, remove } = temporaryFolder();
  onTestFinished(remove);
  mkdirSync(path.join(root, 'instances/one'), { recursive: true });
  writeFileSync(path.join(root, 'instances/one/store.db'), Buffer.alloc(maxPlainBytes + 1));
  writeFileSync(path.join(root, 'instances/one/plain.txt'), 'a list of tulips');
  const read = vi.fn((file: string) => readFileSync(file));
  keepSecrets(root, path.join(root, 'incoming'), read);
  expect(read.mock.calls).toEqual([[path.join(root, 'instances/one/plain.txt')]]);
  expect(readdirSync(path.join(root, 'incoming/instances/one'))).toEqual(['store.db']);
});
