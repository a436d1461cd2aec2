import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { badRequest, ServiceError } from '@svc/service-kit/service-error.ts';
import { dropSetupLink, findSetupLink, tokenHash, type SetupLink } from '@svc/service-kit/setup-link.ts';
import type { Database } from '@svc/store/database.ts';
import type { LoginSessions, LoginTokens } from './login-sessions.ts';
import { checkNewPassword, hashPassword } from './password.ts';
import { bareCode, newRecoveryCodes, newTotpSecret, totpStep, totpUri } from './second-factor.ts';
import type { SignIn } from './sign-in.ts';

type Row = {
  link_hash: string;
  name: string;
  password: string;
  totp_secret: string;
  totp_step: number | null;
  recovery_hashes: string | null;
};
type Deps = { db: Database; run: string; signIn: SignIn; sessions: LoginSessions; clock: Clock; log: Log };

/** Where a set-up stands: what is asked for next, with what the page must show for it. */
export type SetUpState =
  | { step: 'account' }
  | { step: 'totp'; name: string; secret: string; uri: string }
  | { step: 'recovery'; name: string };

/** Every call shows the link's token. @throws ServiceError `unauthorized` for one that is over, used or wrong */
export interface SetUp {
  state(token: string): Promise<SetUpState>;
  account(token: string, name: string, password: string): Promise<SetUpState>;
  totp(token: string, code: string): Promise<SetUpState>;
  /** Ten new ones; those of an earlier call are good for nothing. */
  recoveryCodes(token: string): Promise<string[]>;
  /** Proves that the codes were kept, makes the account and signs in. */
  finish(token: string, recoveryCode: string, device: string): Promise<LoginTokens>;
}

const ended = () =>
  new ServiceError('unauthorized', 'This link was used or its 15 minutes are over. ./svc auth setup prints another one.');
const outOfOrder = () => new ServiceError('conflict', 'An earlier step is missing. Reload the page: it goes on where it stands.');

/** Makes the account in steps that a reload or a restart goes on from. */
export function createSetUp({ db, run, signIn, sessions, clock, log }: Deps): SetUp {
  const linkOf = async (token: string): Promise<SetupLink> => {
    const link = findSetupLink(run, token, clock);
    if (link === null) throw ended();
    const account = await signIn.account();
    if (account !== undefined && (!link.resets || account.link_hash === link.hash)) throw ended();
    return link;
  };

  const rowOf = async (token: string): Promise<Row | undefined> => {
    const { hash } = await linkOf(token);
    return db.get<Row>('SELECT * FROM login_setup WHERE link_hash = ?', hash);
  };

  const state = async (token: string): Promise<SetUpState> => {
    const row = await rowOf(token);
    if (row === undefined) return { step: 'account' };
    const { name, totp_secret: secret } = row;
    return row.totp_step === null ? { step: 'totp', name, secret, uri: totpUri(secret, name) } : { step: 'recovery', name };
  };

  return {
    state,

    async account(token, name, password) {
      const { hash } = await linkOf(token);
      checkNewPassword(password, name);
      const stored = await hashPassword(password);
      await db.transaction(async (tx) => {
        await tx.run('DELETE FROM login_setup');
        const insert = 'INSERT INTO login_setup (link_hash, name, password, totp_secret) VALUES (?, ?, ?, ?)';
        await tx.run(insert, hash, name, stored, newTotpSecret());
      });
      return state(token);
    },

    async totp(token, code) {
      const row = await rowOf(token);
      if (row === undefined) throw outOfOrder();
      const step = totpStep(row.totp_secret, code.trim(), clock.now());
      if (step === null)
        throw badRequest('This code is wrong. Compare the clocks of both devices, and type the code that is shown now.');
      await db.run('UPDATE login_setup SET totp_step = ? WHERE link_hash = ?', step, row.link_hash);
      return state(token);
    },

    async recoveryCodes(token) {
      const row = await rowOf(token);
      if (row === undefined || row.totp_step === null) throw outOfOrder();
      const codes = newRecoveryCodes();
      const hashes = codes.map((code) => tokenHash(bareCode(code)));
      await db.run('UPDATE login_setup SET recovery_hashes = ? WHERE link_hash = ?', JSON.stringify(hashes), row.link_hash);
      return codes;
    },

    async finish(token, recoveryCode, device) {
      const row = await rowOf(token);
      if (row?.recovery_hashes == null || row.totp_step === null) throw outOfOrder();
      const { link_hash, name, password, totp_secret, totp_step } = row;
      const hashes = JSON.parse(row.recovery_hashes) as string[];
      if (!hashes.includes(tokenHash(bareCode(recoveryCode))))
        throw badRequest('This is none of the ten codes. Type one of them.');
      const tokens = await db.transaction(async (tx) => {
        // Two pages may finish at once: the row is there for one of them.
        if ((await tx.run('DELETE FROM login_setup WHERE link_hash = ?', link_hash)) === 0) throw ended();
        for (const table of ['login_account', 'login_recovery_code']) await tx.run(`DELETE FROM ${table}`);
        await sessions.endAll(tx);
        const insert = `INSERT INTO login_account (id, name, password, totp_secret, totp_step, failures, not_before, link_hash)
          VALUES (1, ?, ?, ?, ?, 0, 0, ?)`;
        await tx.run(insert, name, password, totp_secret, totp_step, link_hash);
        for (const hash of hashes) await tx.run('INSERT INTO login_recovery_code (hash) VALUES (?)', hash);
        return sessions.open(tx, device);
      });
      dropSetupLink(run);
      log.warn({ device }, 'the login was set up');
      return tokens;
    },
  };
}
