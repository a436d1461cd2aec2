import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { removeSession, removeTemporary } from './remove-session.ts';

const own = '0b9c1c8e-6a5e-4f0e-9a53-1f6a3a3f0a11';
const other = '0b9c1c8e-6a5e-4f0e-9a53-1f6a3a3f0a12';

function openConfig(files: readonly string[]): { dir: string; files(): string[] } {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  for (const file of files) {
    mkdirSync(path.dirname(path.join(folder.path, file)), { recursive: true });
    writeFileSync(path.join(folder.path, file), 'x');
  }
  const list = () =>
    readdirSync(folder.path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => path.relative(folder.path, path.join(parentPath, name)));
  return { dir: folder.path, files: () => list().toSorted() };
}

test('removes all files of a session from every folder, and no others', async () => {
  const kept = [
    `projects/-home-ann-a/${other}.jsonl`,
    `projects/-home-ann-a/${other}/subagents/agent-1.jsonl`,
    'projects/-home-ann-a/memory/MEMORY.md',
    'projects/a-file',
    `todos/${other}-agent-${own}.json`,
    'settings.json',
    'history.jsonl',
  ];
  const gone = [
    `projects/-home-ann-a/${own}.jsonl`,
    `projects/-home-ann-a/${own}/tool-results/1.txt`,
    `projects/-home-ann-a-b/${own}.jsonl`,
    `projects/-home-ann-a-b/${own}.jsonl.tmp`,
    `file-history/${own}/1@v1`,
    `todos/${own}-agent-${own}.json`,
    `session-env/${own}/env.sh`,
    `debug/${own}.txt`,
  ];
  const config = openConfig([...kept, ...gone]);
  await removeSession(config.dir, own);
  expect(config.files()).toEqual(kept.toSorted());
  await removeSession(config.dir, own);
  expect(config.files()).toEqual(kept.toSorted());
});

test('removes the temporary files of a session, and no others', async () => {
  const kept = [`claude-1000/-home-ann-a/${other}/images/1.png`, `claude-1000/${own}`, `${own}/x`, `other/-home-ann-a/${own}/x`];
  const config = openConfig([...kept, `claude-1000/-home-ann-a/${own}/images/1.png`, `claude-0/-home-ann-b/${own}/tasks/x`]);
  await removeTemporary(config.dir, own);
  expect(config.files()).toEqual(kept.toSorted());
});

test('does nothing when the program was never used', async () => {
  const config = openConfig([]);
  await removeSession(path.join(config.dir, 'none'), own);
  await removeTemporary(path.join(config.dir, 'none'), own);
  expect(config.files()).toEqual([]);
});
