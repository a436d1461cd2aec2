import type { Clock } from '@svc/service-kit/clock.ts';
import { createFolderLooks, type FolderLooks } from './folder-looks.ts';
import { openFolderStore } from './folder-store.ts';
import { createFolders, type Folders } from './folders.ts';

type Deps = Parameters<typeof openFolderStore>[0] &
  Omit<Parameters<typeof createFolders>[0], 'store' | 'looks'> & { clock: Clock; dataDir: string };

/** The folders that are set, and the checks before something works in them. */
export async function openFolders(deps: Deps): Promise<{ folders: Folders; folderLooks: FolderLooks }> {
  const folderLooks = createFolderLooks(deps);
  return { folderLooks, folders: createFolders({ ...deps, looks: folderLooks, store: await openFolderStore(deps) }) };
}
