import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { repositoryRoot } from '../repository-root.ts';
import { slowFiles } from './slow-files-first.ts';

test('each file to start first exists and is listed once', () => {
  const missing = slowFiles.filter((file) => !existsSync(path.join(repositoryRoot, file)));
  expect([missing, new Set(slowFiles).size]).toEqual([[], slowFiles.length]);
});
