import path from 'node:path';
import { onTestFinished } from 'vitest';
import { randomIds } from '@svc/service-kit/ids.ts';
import { createLog } from '@svc/service-kit/log.ts';
import { newToken, tokenHash } from '@svc/service-kit/setup-link.ts';
import { migrate } from '@svc/store/migrate.ts';
import { openSqlite } from '@svc/store/open-sqlite.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createAccounts, sealTotp } from '../src/auth/accounts.ts';
import { createKnownDevices } from '../src/auth/known-devices.ts';
import { createLoginSessions } from '../src/auth/login-sessions.ts';
import { createLoginThrottle } from '../src/auth/login-throttle.ts';
import { createSeal } from '../src/auth/seal.ts';

/** The parts of the login, each by itself, on a store in memory. */
export function openLoginParts() {
  const clock = createFakeClock();
  const db = openSqlite(':memory:');
  migrate(db, path.join(import.meta.dirname, '../src/db/login-migrations'));
  onTestFinished(() => db.close());
  const seal = createSeal(Buffer.alloc(32, 1));
  return {
    clock,
    db,
    seal,
    log: createLog('core', 'silent'),
    accounts: createAccounts(db, seal, clock),
    sessions: createLoginSessions(db, clock, randomIds),
    devices: createKnownDevices(db, clock),
    throttle: createLoginThrottle(db, clock),
    /** An account with an app, or with none where `secret` is null. */
    async addAccount(secret: string | null, password = 'none') {
      const insert =
        'INSERT INTO login_account (id, name, password, totp_secret, totp_step, link_hash) VALUES (1, ?, ?, ?, 0, ?)';
      await db.run(insert, 'anna', password, secret === null ? '' : sealTotp(seal, secret), tokenHash(newToken()));
    },
  };
}
