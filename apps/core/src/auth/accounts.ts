import type { Clock } from '@svc/service-kit/clock.ts';
import { conflict } from '@svc/service-kit/service-error.ts';
import { tokenHash } from '@svc/service-kit/setup-link.ts';
import type { Database } from '@svc/store/database.ts';
import type { Seal } from './seal.ts';
import { bareCode, newRecoveryCodes, totpStep } from './second-factor.ts';

/** `totp_secret` is sealed. */
export type Account = { name: string; password: string; totp_secret: string; totp_step: number; link_hash: string };

const purpose = 'totp';
export const sealTotp = (seal: Seal, secret: string): string => seal.close(secret, purpose);
/** Null when it was sealed with a different `login.key`. */
export const openTotp = (seal: Seal, { totp_secret }: { totp_secret: string }): string | null => seal.open(totp_secret, purpose);

/** The only account, and its used codes. */
export interface Accounts {
  find(): Promise<Account | undefined>;
  /** Whether there is an authenticator app to sign in with. */
  hasApp(from: Pick<Database, 'get'>): Promise<boolean>;
  /** Called in the transaction that removes a second factor. @throws ServiceError `conflict` when it was the last one */
  requireFactor(tx: Pick<Database, 'get'>): Promise<void>;
  /** The hash of an unused recovery code; null for anything else. */
  recoveryHash(code: string): Promise<string | null>;
  /** Marks a code as used, in the transaction that signs its owner in. */
  takeCode(tx: Pick<Database, 'run'>, account: Account, code: string): Promise<boolean>;
  /** Replaces all recovery codes by ten new ones. */
  renewRecoveryCodes(tx: Pick<Database, 'run'>): Promise<string[]>;
}

const lastFactor = () =>
  conflict(
    'This is your last second factor. Without it, only recovery codes would let you in. First add a passkey or an authenticator app.',
  );

const select = 'SELECT * FROM login_account';

export function createAccounts(db: Pick<Database, 'get'>, seal: Seal, clock: Clock): Accounts {
  const hasApp: Accounts['hasApp'] = async (from) => {
    const account = await from.get<Account>(select);
    return account !== undefined && openTotp(seal, account) !== null;
  };

  return {
    find: () => db.get<Account>(select),
    hasApp,

    async requireFactor(tx) {
      if (await hasApp(tx)) return;
      if ((await tx.get('SELECT id FROM login_passkey LIMIT 1')) === undefined) throw lastFactor();
    },

    async recoveryHash(code) {
      const row = await db.get<{ hash: string }>(
        'SELECT hash FROM login_recovery_code WHERE hash = ?',
        tokenHash(bareCode(code)),
      );
      return row?.hash ?? null;
    },

    async takeCode(tx, account, code) {
      const secret = openTotp(seal, account);
      const step = secret === null ? null : totpStep(secret, code.trim(), clock.now());
      // The app may have been replaced since the account was read.
      const use = 'UPDATE login_account SET totp_step = ? WHERE totp_step < ? AND totp_secret = ?';
      if (step !== null) return (await tx.run(use, step, step, account.totp_secret)) > 0;
      return (await tx.run('DELETE FROM login_recovery_code WHERE hash = ?', tokenHash(bareCode(code)))) > 0;
    },

    async renewRecoveryCodes(tx) {
      const codes = newRecoveryCodes();
      await tx.run('DELETE FROM login_recovery_code');
      for (const code of codes) await tx.run('INSERT INTO login_recovery_code (hash) VALUES (?)', tokenHash(bareCode(code)));
      return codes;
    },
  };
}
