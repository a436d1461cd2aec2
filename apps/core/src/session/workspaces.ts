import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Identity } from '@svc/contract/trust.ts';
import { makePrivateDir } from '@svc/service-kit/config/data-dir.ts';

/**
 * The folder an engine works in. Those who may let the assistant act share one workspace, where project notes and
 * skills live; everyone else gets a folder of their own, so that a look around finds only their own files.
 */
export function createWorkspaces(dataDir: string) {
  const made = new Set<string>();
  return {
    folderFor(identity: Pick<Identity, 'principal_id' | 'tool_policy'>): string {
      const folder =
        identity.tool_policy === 'full'
          ? path.join(dataDir, 'workspace')
          : path.join(dataDir, 'workspaces', identity.principal_id ?? 'unknown');
      if (!made.has(folder) || !existsSync(folder)) {
        makePrivateDir(folder);
        made.add(folder);
      }
      return folder;
    },
  };
}

export type Workspaces = ReturnType<typeof createWorkspaces>;
