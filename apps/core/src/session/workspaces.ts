import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { ToolPolicy } from '@svc/contract/trust.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import { makePrivateDir } from '@svc/service-kit/files.ts';
import { folderNameOf } from './conversation-key.ts';

/** A folder that was there is looked for again after this time: it may have been removed. */
const trustMs = 1000;
const maxSeen = 1000;

export type Workspaces = {
  /**
   * Where a turn works unless the operator set a folder. Those who may let the assistant act share one workspace, where
   * project notes and skills live; everyone else gets the conversation's own folder, so that a look around finds nothing else.
   */
  folderFor(conversationKey: string, policy: ToolPolicy): string;
  shared(): string;
  /** For calls that belong to no conversation. */
  sideFolder(name: 'titles' | 'tests' | 'triage'): string;
  /** Removes the folder of a conversation that is forgotten; the shared workspace stays. */
  forget(conversationKey: string): Promise<void>;
};

export function createWorkspaces(paths: Pick<DataPaths, 'workspace' | 'workspaces'>, clock: Pick<Clock, 'elapsed'>): Workspaces {
  const seenAt = new Map<string, number>();
  const { workspace } = paths;
  const own = (name: string) => path.join(paths.workspaces, name);
  const ownOf = (key: string) => own(folderNameOf(key));

  const made = (folder: string): string => {
    const now = clock.elapsed();
    const last = seenAt.get(folder);
    if (last !== undefined && now - last < trustMs) return folder;
    makePrivateDir(folder);
    if (seenAt.size >= maxSeen) seenAt.clear();
    seenAt.set(folder, now);
    return folder;
  };

  return {
    folderFor: (key, policy) => made(policy === 'full' ? workspace : ownOf(key)),
    shared: () => made(workspace),
    sideFolder: (name) => made(own(name)),
    async forget(key) {
      seenAt.delete(ownOf(key));
      await rm(ownOf(key), { recursive: true, force: true });
    },
  };
}
