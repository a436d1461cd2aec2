import type { LoginSession } from '@svc/contract/auth.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import { newToken, tokenHash } from '@svc/service-kit/setup-link.ts';
import type { Database } from '@svc/store/database.ts';

const lifeMs = 12 * 60 * 60_000;
/** The precision of "last seen": most requests of a page then need no write. */
const seenEveryMs = 60_000;
const columns = 'id, device, method, created_at, seen_at, expires_at, proven_at';

/** Both are returned once and stored only as hashes. `cookie` goes into the cookie, `header` into the storage of the page's own origin. */
export type LoginTokens = { cookie: string; header: string };
type Row = LoginSession & { header_hash: string };

/** The sessions of the login. They are kept only in the database, so that a restart neither ends nor revives one. */
export interface LoginSessions {
  open(db: Pick<Database, 'run'>, from: Pick<LoginSession, 'device' | 'method'>): Promise<LoginTokens>;
  /** The live session of a cookie. `header`: the token in the header; null checks the cookie alone. */
  find(cookie: string, header: string | null): Promise<LoginSession | null>;
  list(): Promise<LoginSession[]>;
  /** False when there is none. */
  end(db: Pick<Database, 'run'>, id: string): Promise<boolean>;
  /** `but`: the id of a session that continues. */
  endAll(db: Pick<Database, 'run'>, but?: string): Promise<void>;
}

export function createLoginSessions(db: Pick<Database, 'all' | 'get' | 'run'>, clock: Clock, ids: Ids): LoginSessions {
  /** On a full disk nothing can be written, and the operator has to sign in to make room: they stay signed in, and it is tried again. */
  const noteSeen = (id: string, now: number): Promise<unknown> =>
    db.run('UPDATE login_session SET seen_at = ? WHERE id = ?', now, id).catch(() => undefined);

  return {
    async open(tx, { device, method }) {
      const now = clock.now();
      const tokens = { cookie: newToken(), header: newToken() };
      await tx.run('DELETE FROM login_session WHERE expires_at <= ?', now);
      await tx.run(
        `INSERT INTO login_session (${columns}, cookie_hash, header_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        ids.next('login'),
        device,
        method,
        now,
        now,
        now + lifeMs,
        now,
        tokenHash(tokens.cookie),
        tokenHash(tokens.header),
      );
      return tokens;
    },

    async find(cookie, header) {
      const now = clock.now();
      const select = `SELECT ${columns}, header_hash FROM login_session WHERE cookie_hash = ? AND expires_at > ?`;
      const row = await db.get<Row>(select, tokenHash(cookie), now);
      if (row === undefined) return null;
      const { header_hash, ...session } = row;
      if (header !== null && tokenHash(header) !== header_hash) return null;
      if (now - session.seen_at >= seenEveryMs) await noteSeen(session.id, now);
      return session;
    },

    list: () =>
      db.all<LoginSession>(`SELECT ${columns} FROM login_session WHERE expires_at > ? ORDER BY created_at DESC, id`, clock.now()),

    end: async (tx, id) => (await tx.run('DELETE FROM login_session WHERE id = ?', id)) > 0,

    endAll: async (tx, but = '') => void (await tx.run('DELETE FROM login_session WHERE id <> ?', but)),
  };
}
