import { folderPolicies, folderScopes, type FolderScope, type TrustedFolder, type WorkingFolder } from '@svc/contract/folder.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import { conflict } from '@svc/service-kit/service-error.ts';
import type { Database } from '@svc/store/database.ts';
import type { Events } from '../events.ts';
import type { NewTrustChange, TrustAudit } from '../trust/trust-audit.ts';

type Deps = { db: Database; audit: Pick<TrustAudit, 'add'>; events: Pick<Events, 'trustChanged'>; clock: Pick<Clock, 'now'> };
type Row = { scope: string; name: string; path: string; for_policy: string; updated_at: number };
type Target = Pick<WorkingFolder, 'scope' | 'name'>;

/** The folders that the operator has set: loaded once, read from memory, and each change stored with its actor. */
export type FolderStore = {
  folderOf(scope: FolderScope, name: string): WorkingFolder | null;
  folders(): WorkingFolder[];
  set(actor: string, folder: Omit<WorkingFolder, 'updated_at'>): Promise<WorkingFolder>;
  /** False when none was set. */
  clear(actor: string, target: Target): Promise<boolean>;
  isTrusted(real: string): boolean;
  hasTrusted(): boolean;
  trusted(): TrustedFolder[];
  trust(actor: string, real: string): Promise<TrustedFolder>;
  /** From here on no turn trusts it, even when storing the change fails. False when it was not trusted. */
  untrust(actor: string, real: string): Promise<boolean>;
};

const maxFolders = 1000;
const upsert = `INSERT INTO working_folder (scope, name, path, for_policy, updated_at) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (scope, name) DO UPDATE SET path = excluded.path, for_policy = excluded.for_policy, updated_at = excluded.updated_at`;

export async function openFolderStore({ db, audit, events, clock }: Deps): Promise<FolderStore> {
  const folders = new Map<string, WorkingFolder>();
  const trusted = new Map<string, TrustedFolder>();
  /** Still stored as trusted but not trusted any more. They stay listed, so that a failed untrust can be repeated. */
  const leaving = new Set<string>();
  for (const row of await db.all<Row>('SELECT scope, name, path, for_policy, updated_at FROM working_folder')) {
    const folder = toFolder(row);
    if (folder !== null) folders.set(keyOf(folder), folder);
  }
  for (const row of await db.all<TrustedFolder>('SELECT path, trusted_at FROM trusted_folder')) trusted.set(row.path, row);

  /** Stores the change and its record in one transaction. */
  async function change(told: NewTrustChange, sql: string, ...values: (string | number)[]): Promise<void> {
    const written = await db.transaction(async (tx) => {
      await tx.run(sql, ...values);
      return audit.add(tx, told);
    });
    events.trustChanged(written);
  }

  return {
    folderOf: (scope, name) => folders.get(keyOf({ scope, name })) ?? null,
    folders: () => [...folders.values()].sort((a, b) => keyOf(a).localeCompare(keyOf(b))),

    async set(actor, { scope, name, path, for: policy }) {
      const before = folders.get(keyOf({ scope, name })) ?? null;
      if (before?.path === path && before.for === policy) return before;
      if (before === null) refuseTooMany(folders.size);
      const folder = { scope, name, path, for: policy, updated_at: clock.now() };
      const audited = {
        what: 'folder_set',
        actor,
        principal: null,
        before: before && facts(before),
        after: facts(folder),
      } as const;
      await change(audited, upsert, scope, name, path, policy, folder.updated_at);
      folders.set(keyOf(folder), folder);
      return folder;
    },

    async clear(actor, { scope, name }) {
      const before = folders.get(keyOf({ scope, name }));
      if (before === undefined) return false;
      const audited = { what: 'folder_cleared', actor, principal: null, before: facts(before), after: null } as const;
      await change(audited, 'DELETE FROM working_folder WHERE scope = ? AND name = ?', scope, name);
      return folders.delete(keyOf({ scope, name }));
    },

    isTrusted: (real) => trusted.has(real) && !leaving.has(real),
    hasTrusted: () => trusted.size > 0,
    trusted: () => [...trusted.values()].sort((a, b) => a.path.localeCompare(b.path)),

    async trust(actor, path) {
      const before = trusted.get(path);
      if (before !== undefined && !leaving.has(path)) return before;
      if (before === undefined) refuseTooMany(trusted.size);
      const folder = { path, trusted_at: clock.now() };
      const audited = { what: 'folder_trusted', actor, principal: null, before: null, after: { path } } as const;
      await change(audited, 'INSERT INTO trusted_folder VALUES (?, ?) ON CONFLICT DO NOTHING', path, folder.trusted_at);
      trusted.set(path, folder);
      leaving.delete(path);
      return folder;
    },

    async untrust(actor, path) {
      if (!trusted.has(path)) return false;
      const audited = { what: 'folder_untrusted', actor, principal: null, before: { path }, after: null } as const;
      leaving.add(path);
      await change(audited, 'DELETE FROM trusted_folder WHERE path = ?', path);
      trusted.delete(path);
      leaving.delete(path);
      return true;
    },
  };
}

const keyOf = ({ scope, name }: Target): string => compositeKey(scope, name);

const facts = ({ scope, name, path, for: policy }: WorkingFolder) => ({ scope, name, path, for: policy });

function refuseTooMany(count: number): void {
  if (count >= maxFolders) throw conflict(`There are ${maxFolders} folders already. Clear some first: ./svc folder`);
}

/** Null for a row of a newer version. */
function toFolder({ scope, name, path, for_policy, updated_at }: Row): WorkingFolder | null {
  const known = folderScopes.find((one) => one === scope);
  const policy = folderPolicies.find((one) => one === for_policy);
  return known === undefined || policy === undefined ? null : { scope: known, name, path, for: policy, updated_at };
}
