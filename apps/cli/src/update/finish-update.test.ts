import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { lastUpdate } from '@svc/service-kit/update/update-files.ts';
import { updatePlaces } from '@svc/service-kit/update/update-places.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { finish, finishUpdate } from './finish-update.ts';
import type { UpdateContext } from './update-context.ts';
import { removeFolder, versionFolder } from './version-folder.ts';

const version = (letter: string) => ({ commit: letter.repeat(40), version: letter, name: letter });
const [unpacked, gone, from, to] = ['a', 'b', 'c', 'd'].map(version) as [Version, Version, Version, Version];
type Version = ReturnType<typeof version>;

function openContext(say: (line: string) => void = () => undefined) {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const places = updatePlaces(folder.path);
  for (const { commit } of [unpacked, gone, from, to]) mkdirSync(versionFolder(places, commit), { recursive: true });
  const context: Pick<UpdateContext, 'root' | 'places' | 'data' | 'source' | 'say' | 'now'> = {
    root: versionFolder(places, unpacked.commit),
    places,
    data: dataPaths(folder.path),
    source: {
      settle: async () => null,
      remove: async (commit: string) => removeFolder(versionFolder(places, commit)),
    } as Partial<UpdateContext['source']> as UpdateContext['source'],
    say,
    now: () => 0,
  };
  return context as UpdateContext;
}

const journal = { id: 'x', startedAt: 0, phase: 'settling', from, to, isEdge: false, isRollback: false } as const;

test('finish() removes unused versions, except the one whose code runs', async () => {
  const said: string[] = [];
  const context = openContext((line) => said.push(line));
  await finish(context, journal);
  expect(said).toEqual([]);
  expect(readdirSync(context.places.versions).toSorted()).toEqual([unpacked, from, to].map(({ commit }) => commit));
});

test('a kept update names the connectors that no longer run, and the command to roll back', async () => {
  const context = openContext();
  mkdirSync(context.places.folder, { recursive: true });
  const { code, words } = await finishUpdate(context, {
    journal,
    result: 'confirmed',
    why: null,
    gapMs: 1000,
    lost: ['m1: it is broken', 'email'],
  });
  expect(code).toBe(0);
  expect(words).toMatch(/ m1: it is broken; email\. See \.\/svc status\. Back to c: \.\/svc update --rollback$/);
  expect(lastUpdate(context.places)?.words).toBe(words);
});

test('new settings are appended to .env, also through a symlink', async () => {
  const context = openContext();
  const kept = path.join(context.places.home, 'kept.env');
  writeFileSync(kept, 'SVC_MINE=1\n');
  symlinkSync(kept, path.join(context.places.home, '.env'));
  writeFileSync(path.join(versionFolder(context.places, from.commit), '.env.example'), '');
  writeFileSync(path.join(versionFolder(context.places, to.commit), '.env.example'), '#SVC_NEW=1\n');
  await finish(context, journal);
  expect(readFileSync(kept, 'utf8')).toBe('SVC_MINE=1\n\n#SVC_NEW=1\n');
  expect(lstatSync(path.join(context.places.home, '.env')).isSymbolicLink()).toBe(true);
});
