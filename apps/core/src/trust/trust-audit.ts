import { seedActor, type TrustChange } from '@svc/contract/trust.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Database } from '@svc/store/database.ts';
import { firstFitting } from '@svc/store/read-page.ts';

export type NewTrustChange = Omit<TrustChange, 'id' | 'at'>;
export type TrustAuditPage = { audit: TrustChange[]; next: number | null };

type Row = Omit<TrustChange, 'before' | 'after'> & { before: string | null; after: string | null };

const insert = 'INSERT INTO trust_audit (at, actor, what, principal, before, after) VALUES (?, ?, ?, ?, ?, ?)';
/** Enough for a large principal. Of a longer change, only the fact that it was too long is recorded. */
const maxFacts = 65_536;
const facts = (column: string) =>
  `CASE WHEN octet_length(${column}) > ${maxFacts} THEN '{"withheld":"too long to be shown"}' ELSE ${column} END AS ${column}`;
const select = `SELECT id, at, actor, what, principal, ${facts('before')}, ${facts('after')} FROM trust_audit WHERE id < ?`;

/** The record of every change of trust. */
export interface TrustAudit {
  /** Returns the change as it was recorded. */
  add(db: Pick<Database, 'run'>, change: NewTrustChange): Promise<NewTrustChange>;
  /** Newest first. `before`: the id to continue from. `principal`: a key. */
  list(db: Pick<Database, 'all'>, options: { limit: number; before: number; principal: string | null }): Promise<TrustAuditPage>;
}

/** The append-only record of every change of trust, written in the change's own transaction, with secrets masked. */
export function createTrustAudit(knownSecrets: Pick<KnownSecrets, 'redactor'>, clock: Clock): TrustAudit {
  const masked = (value: NewTrustChange['before']): NewTrustChange['before'] => {
    if (value === null) return null;
    try {
      return knownSecrets.redactor().value(value) as Record<string, unknown>; // a masked copy has the same form
    } catch {
      return { withheld: true }; // without the list of secrets, no text is recorded
    }
  };
  const text = (value: NewTrustChange['before']) => (value === null ? null : JSON.stringify(value));

  return {
    async add(db: Pick<Database, 'run'>, change: NewTrustChange): Promise<NewTrustChange> {
      const { actor, what, principal } = change;
      // While the service starts, secrets are not read just to mask names that the operator wrote into the seed file.
      const pass = actor === seedActor ? (value: NewTrustChange['before']) => value : masked;
      const [before, after] = [pass(change.before), pass(change.after)];
      await db.run(insert, clock.now(), actor, what, principal, text(before), text(after));
      return { actor, what, principal, before, after };
    },

    async list(
      db: Pick<Database, 'all'>,
      { limit, before, principal }: { limit: number; before: number; principal: string | null },
    ): Promise<TrustAuditPage> {
      const rows =
        principal === null
          ? await db.all<Row>(`${select} ORDER BY id DESC LIMIT ?`, before, limit + 1)
          : await db.all<Row>(`${select} AND principal = ? ORDER BY id DESC LIMIT ?`, before, principal, limit + 1);
      const audit = firstFitting(rows.slice(0, limit).map(toChange));
      return { audit, next: rows.length > audit.length ? (audit.at(-1)?.id ?? null) : null };
    },
  };
}

const toChange = ({ before, after, ...row }: Row): TrustChange => ({ ...row, before: parsed(before), after: parsed(after) });

const parsed = (text: string | null): Record<string, unknown> | null =>
  text === null ? null : (JSON.parse(text) as Record<string, unknown>); // written only by `add`
