import type { Clock } from '@svc/service-kit/clock.ts';
import { newToken, tokenHash } from '@svc/service-kit/setup-link.ts';
import type { Database } from '@svc/store/database.ts';

/** Most that are kept; beyond it, the one used longest ago is removed. */
const most = 50;

/** Browsers that someone has signed in with. They get no access by that, but their sign-ins are not slowed down by strangers' guesses. */
export interface KnownDevices {
  /** The hash of a device's cookie; null for one that is not known. */
  find(cookies: readonly string[]): Promise<string | null>;
  /** Records a sign-in. Returns the cookie's value: the present one of a known device, otherwise a new one. */
  note(db: Pick<Database, 'run' | 'get'>, cookies: readonly string[]): Promise<string>;
  forgetAll(db: Pick<Database, 'run'>): Promise<void>;
}

export function createKnownDevices(db: Pick<Database, 'get'>, clock: Clock): KnownDevices {
  const known = async (from: Pick<Database, 'get'>, cookies: readonly string[]): Promise<string | null> => {
    for (const cookie of cookies.slice(0, 4)) {
      const row = await from.get('SELECT hash FROM login_device WHERE hash = ?', tokenHash(cookie));
      if (row !== undefined) return cookie;
    }
    return null;
  };

  return {
    async find(cookies) {
      const cookie = await known(db, cookies);
      return cookie === null ? null : tokenHash(cookie);
    },
    async note(tx, cookies) {
      const token = (await known(tx, cookies)) ?? newToken();
      const upsert =
        'INSERT INTO login_device (hash, seen_at) VALUES (?, ?) ON CONFLICT (hash) DO UPDATE SET seen_at = excluded.seen_at';
      await tx.run(upsert, tokenHash(token), clock.now());
      await tx.run(
        'DELETE FROM login_device WHERE hash NOT IN (SELECT hash FROM login_device ORDER BY seen_at DESC, hash LIMIT ?)',
        most,
      );
      return token;
    },
    forgetAll: async (tx) => void (await tx.run('DELETE FROM login_device')),
  };
}
