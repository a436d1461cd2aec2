import type { Tier } from '@svc/contract/trust.ts';
import type { VaultAgent } from '@svc/contract/vault.ts';
import type { Database, Transaction } from '@svc/store/database.ts';

export type AgentRow = VaultAgent & { tier: Tier; key_hash: Uint8Array; generation: number; mac: Uint8Array };

const insert =
  'INSERT INTO agent (id, name, tier, key_hash, created_at, revoked_at, generation, mac) VALUES (?, ?, ?, ?, ?, ?, ?, ?)';

export const insertAgent = (tx: Transaction, row: AgentRow): Promise<number> =>
  tx.run(insert, row.id, row.name, row.tier, row.key_hash, row.created_at, row.revoked_at, row.generation, row.mac);

/** Updates the fields of an agent that can change. */
export const updateAgent = (tx: Transaction, { id, revoked_at, generation, mac }: AgentRow): Promise<number> =>
  tx.run('UPDATE agent SET revoked_at = ?, generation = ?, mac = ? WHERE id = ?', revoked_at, generation, mac, id);

export const findAgentByKey = (db: Database, keyHash: Buffer): Promise<AgentRow | undefined> =>
  db.get<AgentRow>('SELECT * FROM agent WHERE key_hash = ?', keyHash);

export const findAgentByName = (db: Database, name: string): Promise<AgentRow | undefined> =>
  db.get<AgentRow>('SELECT * FROM agent WHERE name = ? AND revoked_at IS NULL', name);

export const listAgents = (db: Database): Promise<AgentRow[]> => db.all<AgentRow>('SELECT * FROM agent ORDER BY created_at, id');

export const toAgent = ({ id, name, tier, created_at, revoked_at }: AgentRow): VaultAgent => ({
  id,
  name,
  tier,
  created_at,
  revoked_at,
});
