import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { readJsonFile } from './read-json-file.ts';

test('readJsonFile() is null for a missing or damaged file, and throws if it cannot be read', () => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const file = path.join(folder.path, 'file.json');
  expect(readJsonFile(file)).toBeNull();
  writeFileSync(file, '{"a":1}');
  expect(readJsonFile(file)).toEqual({ a: 1 });
  writeFileSync(file, '{"a":');
  expect(readJsonFile(file)).toBeNull();
  expect(() => readJsonFile(folder.path)).toThrow('EISDIR');
});
