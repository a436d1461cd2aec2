import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { readJsonFile } from './read-json-file.ts';

test('a JSON file that is missing or damaged holds nothing; one that cannot be read is a fault', () => {
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
