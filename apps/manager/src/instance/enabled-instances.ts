import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { StoredInstance } from './instance-store.ts';

type EnabledInstance = Pick<StoredInstance, 'id' | 'type' | 'config'>;

/** The enabled instances, read while a running manager may use the file too; none if the file does not exist yet. */
export function enabledInstances(file: string): EnabledInstance[] {
  if (!existsSync(file)) return [];
  const db = new DatabaseSync(file, { readOnly: true, timeout: 1000 });
  try {
    const rows = db.prepare('SELECT id, type, config FROM instance WHERE enabled = 1').all();
    return rows.map(({ id, type, config }) => ({
      id: String(id),
      type: String(type),
      config: JSON.parse(String(config)) as EnabledInstance['config'],
    }));
  } finally {
    db.close();
  }
}
