import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { StoredInstance } from './instance-store.ts';

type EnabledInstance = Pick<StoredInstance, 'id' | 'type' | 'config'>;

/** The instances that are to run, read beside the manager that works with the file; none where there is no such file yet. */
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
