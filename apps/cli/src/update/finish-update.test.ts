import { mkdirSync, readdirSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { updatePlaces } from '@svc/service-kit/update/update-places.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { finish } from './finish-update.ts';
import type { UpdateContext } from './update-context.ts';
import { removeFolder, versionFolder } from './version-folder.ts';

const version = (letter: string) => ({ commit: letter.repeat(40), version: letter, name: letter });
const [unpacked, gone, from, to] = ['a', 'b', 'c', 'd'].map(version) as [Version, Version, Version, Version];
type Version = ReturnType<typeof version>;

test('versions that nobody goes back to are removed, but not the one whose code does that', async () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const places = updatePlaces(folder.path);
  for (const { commit } of [unpacked, gone, from, to]) mkdirSync(versionFolder(places, commit), { recursive: true });
  const said: string[] = [];
  const context: Pick<UpdateContext, 'root' | 'places' | 'data' | 'source' | 'say' | 'now'> = {
    root: versionFolder(places, unpacked.commit),
    places,
    data: dataPaths(folder.path),
    source: {
      settle: async () => null,
      remove: async (commit: string) => removeFolder(versionFolder(places, commit)),
    } as Partial<UpdateContext['source']> as UpdateContext['source'],
    say: (line) => said.push(line),
    now: () => 0,
  };
  const journal = { id: 'x', startedAt: 0, phase: 'settling', from, to, isEdge: false, isRollback: false } as const;
  await finish(context as UpdateContext, journal);
  expect(said).toEqual([]);
  expect(readdirSync(places.versions).toSorted()).toEqual([unpacked, from, to].map(({ commit }) => commit));
});
