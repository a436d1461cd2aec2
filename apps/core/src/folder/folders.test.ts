import { expect, test } from 'vitest';
import type { FolderFinding } from './check-folder.ts';
import type { FolderLooks } from './folder-looks.ts';
import type { FolderStore } from './folder-store.ts';
import { createFolders } from './folders.ts';

/** Folders with these trusted ones; `resolve` stands in for the file system. */
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

test('trust of a listed path is revoked without accessing its file system', async () => {
  const folders = foldersWith(['/mnt/repo'], () => Promise.reject(new Error('it must not be asked')));
  expect(await folders.untrust('local', '/mnt//repo/')).toBe(true);
});

test('a path whose links cannot be resolved is rejected with advice', async () => {
  const refused = foldersWith(['/mnt/repo'], hanging).untrust('local', '/link');
  await expect(refused).rejects.toThrow(/its file system does not answer\. Name the folder as \.\/svc folder lists it/);
});
