import type { EngineConnection } from '@svc/contract/engine.ts';
import type { Database, Value } from '@svc/store/database.ts';
import { isEngineId, type EngineId } from './load-engine.ts';

/** The stored settings of an engine. Null: the engine's own default. Times are epoch ms. */
export type EngineSetting = {
  model: string | null;
  connection: EngineConnection | null;
  billing: EngineConnection | null;
  auto_update: boolean;
  base_url: string | null;
  latest_version: string | null;
  checked_at: number | null;
  update_fault: string | null;
  refused_version: string | null;
};

type Row = Omit<EngineSetting, 'auto_update'> & { engine_id: string; is_default: number; auto_update: number };

const selectAll = 'SELECT * FROM engine_setting';
const upsert = `
  INSERT INTO engine_setting (engine_id, model, connection, billing, auto_update, base_url, latest_version, checked_at, update_fault, refused_version)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (engine_id) DO UPDATE SET model = excluded.model, connection = excluded.connection, billing = excluded.billing,
    auto_update = excluded.auto_update, base_url = excluded.base_url, latest_version = excluded.latest_version,
    checked_at = excluded.checked_at, update_fault = excluded.update_fault, refused_version = excluded.refused_version`;
const clearDefault = 'UPDATE engine_setting SET is_default = 0 WHERE is_default = 1';
const markDefault = `INSERT INTO engine_setting (engine_id, is_default) VALUES (?, 1)
  ON CONFLICT (engine_id) DO UPDATE SET is_default = 1`;

const asItComes: EngineSetting = {
  model: null,
  connection: null,
  billing: null,
  auto_update: false,
  base_url: null,
  latest_version: null,
  checked_at: null,
  update_fault: null,
  refused_version: null,
};

/** The operator's settings of engines: read once, cached in memory, written through. */
export type EngineSettings = {
  /** From memory. */
  read(id: EngineId): EngineSetting;
  /** The engine that was made the default, or null when nobody chose. */
  defaultEngine(): EngineId | null;
  /** Changes the given fields. In force when it resolves. */
  change(id: EngineId, changes: Partial<EngineSetting>): Promise<void>;
  /** Null clears the choice. */
  makeDefault(id: EngineId | null): Promise<void>;
};

export async function openEngineSettings(db: Database): Promise<EngineSettings> {
  const settings = new Map<EngineId, EngineSetting>();
  let byDefault: EngineId | null = null;
  for (const { engine_id, is_default, auto_update, ...rest } of await db.all<Row>(selectAll)) {
    if (!isEngineId(engine_id)) continue; // an engine that only a newer version has
    settings.set(engine_id, { ...rest, auto_update: auto_update === 1 });
    if (is_default === 1) byDefault = engine_id;
  }
  const read = (id: EngineId): EngineSetting => settings.get(id) ?? asItComes;

  return {
    read,

    defaultEngine: () => byDefault,

    async change(id: EngineId, changes: Partial<EngineSetting>): Promise<void> {
      const before = read(id);
      const after = { ...before, ...changes };
      // In memory first, so that two changes at once do not undo each other.
      settings.set(id, after);
      try {
        await db.run(upsert, ...toValues(id, after));
      } catch (error) {
        if (settings.get(id) === after) settings.set(id, before);
        throw error;
      }
    },

    async makeDefault(id: EngineId | null): Promise<void> {
      await db.transaction(async (tx) => {
        await tx.run(clearDefault);
        if (id !== null) await tx.run(markDefault, id);
      });
      byDefault = id;
    },
  };
}

const toValues = (id: EngineId, setting: EngineSetting): Value[] => [
  id,
  setting.model,
  setting.connection,
  setting.billing,
  setting.auto_update ? 1 : 0,
  setting.base_url,
  setting.latest_version,
  setting.checked_at,
  setting.update_fault,
  setting.refused_version,
];
