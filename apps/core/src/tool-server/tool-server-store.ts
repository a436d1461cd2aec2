import type { ToolServerEntry } from '@svc/contract/tool-server.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Database } from '@svc/store/database.ts';

const select = 'SELECT name, enabled, entry FROM tool_server ORDER BY name';
const upsert = `INSERT INTO tool_server (name, enabled, entry, updated_at) VALUES (?, ?, ?, ?)
  ON CONFLICT (name) DO UPDATE SET enabled = excluded.enabled, entry = excluded.entry, updated_at = excluded.updated_at`;

type Row = { name: string; enabled: number; entry: string };
/** `entry` is null for a built-in server, of which only the switch is stored. */
export type StoredToolServer = { name: string; enabled: boolean; entry: ToolServerEntry | null };

/** The registered tool servers. They are read once, at the start of the service; the registry caches them in memory. */
export type ToolServerStore = {
  list(): Promise<StoredToolServer[]>;
  /** Adds a server, or replaces the one of its name. */
  save(server: StoredToolServer): Promise<void>;
  remove(name: string): Promise<void>;
};

export function createToolServerStore(db: Pick<Database, 'all' | 'run'>, clock: Clock): ToolServerStore {
  return {
    async list(): Promise<StoredToolServer[]> {
      return (await db.all<Row>(select)).map(toStored);
    },
    async save({ name, enabled, entry }: StoredToolServer): Promise<void> {
      await db.run(upsert, name, enabled ? 1 : 0, JSON.stringify(entry), clock.now());
    },
    async remove(name: string): Promise<void> {
      await db.run('DELETE FROM tool_server WHERE name = ?', name);
    },
  };
}

function toStored({ name, enabled, entry }: Row): StoredToolServer {
  // The cast is safe: only checked entries are stored.
  const parsed = JSON.parse(entry) as ToolServerEntry | null;
  return { name, enabled: enabled === 1, entry: parsed === null ? null : { ...parsed, enabled: enabled === 1 } };
}
