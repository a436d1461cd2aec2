import type { Database } from '@svc/store/database.ts';

/** The sessions that a terminal has claimed. Kept in memory, so that the check costs a turn nothing. */
export interface Claims {
  isClaimed(key: string): boolean;
  /**
   * Whether the channel should announce its pause: once each time the service's own terminal claims a session, and once
   * more after a restart. Not for another program's claim, which may announce it itself.
   */
  takePauseNotice(key: string): boolean;
  /** From this call on the channel pauses. */
  claim(key: string, by: string): Promise<void>;
  release(key: string): Promise<void>;
  /** The session is gone. */
  forget(key: string): boolean;
}

type Row = { conversation_key: string; claimed_by: string };
type Claim = { by: string; isAnnounced: boolean };

const ownTerminal = /^term_/;

export async function createClaims(db: Database): Promise<Claims> {
  const rows = await db.all<Row>('SELECT conversation_key, claimed_by FROM session WHERE claimed_by IS NOT NULL');
  const claimed = new Map<string, Claim>(rows.map((row) => [row.conversation_key, { by: row.claimed_by, isAnnounced: false }]));
  const store = (key: string, by: string | null) =>
    db.run('UPDATE session SET claimed_by = ? WHERE conversation_key = ?', by, key);
  return {
    isClaimed: (key: string): boolean => claimed.has(key),
    takePauseNotice(key: string): boolean {
      const claim = claimed.get(key);
      if (claim === undefined || claim.isAnnounced || !ownTerminal.test(claim.by)) return false;
      claim.isAnnounced = true;
      return true;
    },
    async claim(key: string, by: string): Promise<void> {
      claimed.set(key, { by, isAnnounced: false });
      await store(key, by);
    },
    async release(key: string): Promise<void> {
      // Both at once, as in `claim`: the last call wins, in memory as in the database.
      claimed.delete(key);
      await store(key, null);
    },
    forget: (key: string): boolean => claimed.delete(key),
  };
}
