import path from 'node:path';
import type { Identity } from '@svc/contract/trust.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { makePrivateDir } from '@svc/service-kit/config/data-dir.ts';

/** A folder that was there is looked for again after this time: somebody may have removed it. */
const trustMs = 1000;

/**
 * The folder an engine works in. Those who may let the assistant act share one workspace, where project notes and
 * skills live; everyone else gets a folder of their own, so that a look around finds only their own files.
 */
export function createWorkspaces(dataDir: string, clock: Pick<Clock, 'now'>) {
  const seenAt = new Map<string, number>();
  return {
    folderFor(identity: Pick<Identity, 'principal_id' | 'tool_policy'>): string {
      const folder =
        identity.tool_policy === 'full'
          ? path.join(dataDir, 'workspace')
          : path.join(dataDir, 'workspaces', identity.principal_id ?? 'unknown');
      const now = clock.now();
      if (now - (seenAt.get(folder) ?? 0) >= trustMs) {
        makePrivateDir(folder);
        seenAt.set(folder, now);
      }
      return folder;
    },
  };
}

export type Workspaces = ReturnType<typeof createWorkspaces>;
