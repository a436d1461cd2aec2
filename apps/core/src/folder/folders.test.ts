import { expect, test } from 'vitest';
import type { FolderFinding } from './check-folder.ts';
import type { FolderLooks } from './folder-looks.ts';
import type { FolderStore } from './folder-store.ts';
import { createFolders } from './folders.ts';

/** Folders of which `trusted` are trusted, on a disk where a path leads where `resolve` says. */
function foldersWith(trusted: readonly string[], resolve: () => Promise<FolderFinding>) {
  const left = new Set(trusted);
  const store = { untrust: (_actor, path) => Promise.resolve(left.delete(path)) } satisfies Partial<FolderStore>;
  const looks = { resolve } satisfies Partial<FolderLooks>;
  return createFolders({
    store: store as unknown as FolderStore,
    looks: looks as unknown as FolderLooks,
    workspaces: { folderFor: () => '/workspace' },
    log: { warn: () => undefined },
  });
}

const hanging = () => Promise.resolve<FolderFinding>({ ok: false, why: 'its file system does not answer' });

test('trust is taken back from a listed path whatever its file system does', async () => {
  const folders = foldersWith(['/mnt/repo'], () => Promise.reject(new Error('it must not be asked')));
  expect(await folders.untrust('local', '/mnt//repo/')).toBe(true);
});

test('a path whose links cannot be followed is no folder that was never trusted: it is refused, with what to do', async () => {
  const refused = foldersWith(['/mnt/repo'], hanging).untrust('local', '/link');
  await expect(refused).rejects.toThrow(/its file system does not answer\. Name the folder as \.\/svc folder lists it/);
});
