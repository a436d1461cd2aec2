import type { PublicKeyCredentialCreationOptionsJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { SetUpState } from '@svc/contract/auth.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { badRequest, ServiceError } from '@svc/service-kit/service-error.ts';
import { dropSetupLink, findSetupLink, newToken, tokenHash, type SetupLink } from '@svc/service-kit/setup-link.ts';
import type { Database } from '@svc/store/database.ts';
import type { LoginEvents } from '../event/login-events.ts';
import { openTotp, sealTotp } from './accounts.ts';
import type { KnownDevices } from './known-devices.ts';
import type { LoginSessions } from './login-sessions.ts';
import { type NewPasskeys, type StoredPasskey, storePasskey } from './new-passkey.ts';
import type { PasskeyChallenges } from './passkey-challenges.ts';
import { checkNewPassword, hashPassword } from './password.ts';
import { bareCode, newRecoveryCodes, newTotpSecret, totpStep, totpUri, wrongAppCode } from './second-factor.ts';
import type { Seal } from './seal.ts';
import type { Entry, SignIn } from './sign-in.ts';
import type { Visitor } from './visitor.ts';

type Row = {
  link_hash: string;
  browser_hash: string;
  name: string;
  password: string;
  totp_secret: string;
  totp_step: number | null;
  /** JSON of a `StoredPasskey`, if that is the second factor instead of an app. */
  passkey: string | null;
  recovery_hashes: string | null;
};
type Deps = {
  db: Database;
  run: string;
  seal: Seal;
  signIn: SignIn;
  sessions: LoginSessions;
  devices: KnownDevices;
  challenges: PasskeyChallenges;
  newPasskeys: NewPasskeys;
  events: LoginEvents;
  clock: Clock;
  log: Log;
};
/** The link's token, and the cookies of the browser that opened it. */
export type Opener = { token: string; setupCookies: readonly string[] };

/**
 * Every call needs the link's token and, after the first step, the cookie that this step gave to the browser.
 * @throws ServiceError `unauthorized` for a token that is expired, used, wrong, or in use by another browser
 */
export interface SetUp {
  state(opener: Opener): Promise<SetUpState>;
  /** `browser`: the value for the cookie. */
  account(opener: Opener, name: string, password: string): Promise<{ state: SetUpState; browser: string }>;
  totp(opener: Opener, code: string): Promise<SetUpState>;
  /** A passkey is the alternative second factor. @throws ServiceError `unprocessable` on a page whose host is an IP address */
  passkeyOptions(opener: Opener, origin: URL): Promise<PublicKeyCredentialCreationOptionsJSON>;
  /** @throws ServiceError `bad_request` for a response that cannot be verified */
  passkey(opener: Opener, origin: URL, name: string, response: RegistrationResponseJSON): Promise<SetUpState>;
  /** Makes ten new codes; those of an earlier call become invalid. */
  recoveryCodes(opener: Opener): Promise<string[]>;
  /** Checks one code, as proof that they were kept; then creates the account and signs in. */
  finish(opener: Opener, recoveryCode: string, visitor: Visitor): Promise<Entry>;
}

/** Emptied for a new account. */
const replacedTables = ['login_account', 'login_recovery_code', 'login_passkey', 'login_throttle'] as const;

const ended = () =>
  new ServiceError(
    'unauthorized',
    'This link has been used or has expired. Get another one, which works for 15 minutes: ./svc auth setup',
  );
const takenOver = () =>
  new ServiceError(
    'unauthorized',
    'Another browser has already opened this link. If that was not you, someone else has seen it. Get another one: ./svc auth setup',
  );
const outOfOrder = () => new ServiceError('conflict', 'An earlier step is missing. Reload the page to continue with that step.');

const hasFactor = (row: Row): boolean => row.totp_step !== null || row.passkey !== null;

const selectRow = 'SELECT * FROM login_setup WHERE link_hash = ?';

/** The set-up that this browser has begun with a link. @throws ServiceError `unauthorized` for another browser's */
async function ownRow(on: Pick<Database, 'get'>, linkHash: string, cookies: readonly string[]): Promise<Row | undefined> {
  const row = await on.get<Row>(selectRow, linkHash);
  if (row !== undefined && !cookies.some((cookie) => tokenHash(cookie) === row.browser_hash)) throw takenOver();
  return row;
}

/** Creates the account in steps, which a reload or a restart can continue. */
export function createSetUp(deps: Deps): SetUp {
  const { db, run, seal, signIn, sessions, devices, challenges, newPasskeys, events, clock, log } = deps;
  const linkOf = async (token: string): Promise<SetupLink> => {
    const link = findSetupLink(run, token, clock);
    if (link === null) throw ended();
    const account = await signIn.account();
    if (account !== undefined && (!link.resets || account.link_hash === link.hash)) throw ended();
    return link;
  };

  const rowOf = async ({ token, setupCookies }: Opener): Promise<Row | undefined> => {
    const { hash } = await linkOf(token);
    return ownRow(db, hash, setupCookies);
  };

  const secretOf = (row: Row): string => {
    const secret = openTotp(seal, row);
    if (secret === null) throw ended(); // login.key was replaced meanwhile
    return secret;
  };

  const stateOf = (row: Row | undefined): SetUpState => {
    if (row === undefined) return { step: 'account' };
    if (hasFactor(row)) return { step: 'recovery', name: row.name };
    const secret = secretOf(row);
    return { step: 'totp', name: row.name, secret, uri: totpUri(secret, row.name) };
  };

  return {
    state: async (opener) => stateOf(await rowOf(opener)),

    async account(opener, name, password) {
      await rowOf(opener);
      const { hash } = await linkOf(opener.token);
      await checkNewPassword(password, name);
      const stored = await hashPassword(password);
      const browser = newToken();
      const row = await db.transaction(async (tx) => {
        // Two browsers may begin at once: the second finds the row of the first.
        await ownRow(tx, hash, opener.setupCookies);
        await tx.run('DELETE FROM login_setup');
        const insert = 'INSERT INTO login_setup (link_hash, browser_hash, name, password, totp_secret) VALUES (?, ?, ?, ?, ?)';
        await tx.run(insert, hash, tokenHash(browser), name, stored, sealTotp(seal, newTotpSecret()));
        return tx.get<Row>(selectRow, hash);
      });
      return { state: stateOf(row), browser };
    },

    async totp(opener, code) {
      const row = await rowOf(opener);
      if (row === undefined) throw outOfOrder();
      const step = totpStep(secretOf(row), code.trim(), clock.now());
      if (step === null) throw wrongAppCode();
      await db.run('UPDATE login_setup SET totp_step = ? WHERE link_hash = ?', step, row.link_hash);
      return stateOf(await rowOf(opener));
    },

    async passkeyOptions(opener, origin) {
      const row = await rowOf(opener);
      if (row === undefined) throw outOfOrder();
      return newPasskeys.options({ use: `setup:${row.link_hash}`, origin, userName: row.name, known: [] });
    },

    async passkey(opener, origin, name, response) {
      const row = await rowOf(opener);
      if (row === undefined) throw outOfOrder();
      const { passkey, challenge } = await newPasskeys.verify({ use: `setup:${row.link_hash}`, origin, name, response });
      await db.transaction(async (tx) => {
        if (!(await challenges.take(tx, challenge))) throw badRequest('This passkey was already added. Reload the page.');
        const update = 'UPDATE login_setup SET passkey = ? WHERE link_hash = ?';
        await tx.run(update, JSON.stringify(passkey), row.link_hash);
      });
      return stateOf(await rowOf(opener));
    },

    async recoveryCodes(opener) {
      const row = await rowOf(opener);
      if (row === undefined || !hasFactor(row)) throw outOfOrder();
      const codes = newRecoveryCodes();
      const hashes = codes.map((code) => tokenHash(bareCode(code)));
      await db.run('UPDATE login_setup SET recovery_hashes = ? WHERE link_hash = ?', JSON.stringify(hashes), row.link_hash);
      return codes;
    },

    async finish(opener, recoveryCode, visitor) {
      const row = await rowOf(opener);
      if (row?.recovery_hashes == null || !hasFactor(row)) throw outOfOrder();
      const { link_hash, name, password, totp_secret, totp_step } = row;
      const passkey = row.passkey === null ? null : (JSON.parse(row.passkey) as StoredPasskey);
      const hashes = JSON.parse(row.recovery_hashes) as string[];
      if (!hashes.includes(tokenHash(bareCode(recoveryCode))))
        throw badRequest('This is not one of the ten recovery codes. Type one of them.');
      const isReset = (await signIn.account()) !== undefined;
      const entry = await db.transaction(async (tx) => {
        // Two pages may finish at once: only one of them finds the row.
        if ((await tx.run('DELETE FROM login_setup WHERE link_hash = ?', link_hash)) === 0) throw ended();
        for (const table of replacedTables) await tx.run(`DELETE FROM ${table}`);
        await sessions.endAll(tx);
        await devices.forgetAll(tx);
        const insert =
          'INSERT INTO login_account (id, name, password, totp_secret, totp_step, link_hash) VALUES (1, ?, ?, ?, ?, ?)';
        // A secret that nobody has proven to have must not work.
        await tx.run(insert, name, password, totp_step === null ? '' : totp_secret, totp_step ?? 0, link_hash);
        if (passkey !== null) await storePasskey(tx, passkey);
        for (const hash of hashes) await tx.run('INSERT INTO login_recovery_code (hash) VALUES (?)', hash);
        const deviceCookie = await devices.note(tx, []);
        return {
          ...(await sessions.open(tx, { device: visitor.device, method: passkey === null ? 'password' : 'passkey' })),
          deviceCookie,
        };
      });
      dropSetupLink(run);
      log.warn({ device: visitor.device }, 'the login was set up');
      events.login(isReset ? 'reset' : 'set_up', name, { device: visitor.device });
      return entry;
    },
  };
}
