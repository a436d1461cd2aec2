import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import type { LoginSession, Passkey } from '@svc/contract/auth.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { badRequest, conflict, notFound, ServiceError } from '@svc/service-kit/service-error.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { Database, Transaction } from '@svc/store/database.ts';
import type { LoginEvents } from '../event/login-events.ts';
import type { Accounts } from './accounts.ts';
import type { LoginTokens } from './login-sessions.ts';
import type { ChallengeUse, PasskeyChallenges } from './passkey-challenges.ts';
import { type NewPasskeys, passkeyTimeoutMs, type StoredPasskey, storePasskey } from './new-passkey.ts';
import { passkeyHost } from './passkey-host.ts';
import type { Entry, SignIn } from './sign-in.ts';
import type { Visitor } from './visitor.ts';

const most = 20;
const columns = 'id, name, host, created_at, used_at';

type Deps = {
  db: Database;
  accounts: Pick<Accounts, 'requireFactor'>;
  signIn: SignIn;
  challenges: PasskeyChallenges;
  newPasskeys: NewPasskeys;
  events: LoginEvents;
  clock: Clock;
  log: Log;
};

/**
 * Passkeys, which are enough to sign in: the authenticator itself asks for a fingerprint, a face or a PIN. Guesses at a password never lock
 * them. Each is bound to the host name where it was created.
 */
export interface Passkeys {
  list(): Promise<Passkey[]>;
  /** @throws ServiceError `unprocessable` on a page whose host is an IP address, `conflict` when there are too many */
  addOptions(session: LoginSession, origin: URL): Promise<PublicKeyCredentialCreationOptionsJSON>;
  /** @throws ServiceError `bad_request` for a response that cannot be verified, `conflict` when there are too many */
  add(session: LoginSession, origin: URL, name: string, response: RegistrationResponseJSON): Promise<Passkey>;
  rename(id: string, name: string): Promise<void>;
  /** @throws ServiceError `conflict` for the last second factor */
  remove(id: string, session: LoginSession): Promise<void>;
  /** The same whether there is a login or not. */
  signInOptions(origin: URL): Promise<PublicKeyCredentialRequestOptionsJSON>;
  /** @throws ServiceError `unauthorized`, the same whatever was wrong */
  signIn(visitor: Visitor, response: AuthenticationResponseJSON): Promise<Entry>;
  stepUpOptions(session: LoginSession, origin: URL): Promise<PublicKeyCredentialRequestOptionsJSON>;
  stepUp(session: LoginSession, origin: URL, response: AuthenticationResponseJSON): Promise<LoginTokens>;
}

const refused = () =>
  new ServiceError('unauthorized', 'This passkey is not accepted here. Use another one, or sign in with the password.');

/** Loaded on first use: it takes a while, and most starts of the core do not need it. */
const library = () => import('@simplewebauthn/server');

export function createPasskeys({ db, accounts, signIn, challenges, newPasskeys, events, clock, log }: Deps): Passkeys {
  /** @throws ServiceError `conflict` */
  const requireRoom = (count: number): void => {
    if (count >= most) throw conflict(`There are ${most} passkeys already. Remove one that is no longer used.`);
  };
  const nameOfUser = async () => (await signIn.account())?.name ?? null;

  const requestOptions = async (use: ChallengeUse, origin: URL) => {
    const rpID = passkeyHost(origin);
    const challenge = challenges.make(use, rpID);
    return (await library()).generateAuthenticationOptions({
      rpID,
      challenge,
      timeout: passkeyTimeoutMs,
      userVerification: 'required',
    });
  };

  /** Verifies a response; returns the writes that make it count. @throws ServiceError `unauthorized` */
  const prove = async (use: ChallengeUse, origin: URL, response: AuthenticationResponseJSON) => {
    const host = passkeyHost(origin);
    const row = await db.get<StoredPasskey>('SELECT * FROM login_passkey WHERE id = ? AND host = ?', response.id, host);
    if (row === undefined) throw refused();
    let taken = '';
    const verified = await (
      await library()
    )
      .verifyAuthenticationResponse({
        response,
        expectedChallenge: (challenge) => {
          taken = challenge;
          return challenges.isGood(challenge, use, host);
        },
        expectedOrigin: origin.origin,
        expectedRPID: host,
        requireUserVerification: true,
        credential: {
          id: row.id,
          publicKey: new Uint8Array(Buffer.from(row.public_key, 'base64url')),
          counter: row.counter,
          transports: JSON.parse(row.transports) as string[],
        },
      })
      .catch((error: unknown) => {
        log.warn({ err: error }, 'a passkey was refused');
        return { verified: false as const, authenticationInfo: null };
      });
    if (!verified.verified) throw refused();
    const { newCounter } = verified.authenticationInfo;
    return async (tx: Transaction): Promise<void> => {
      if (!(await challenges.take(tx, taken))) throw refused();
      const update = 'UPDATE login_passkey SET counter = ?, used_at = ? WHERE id = ? AND (counter < ? OR counter = 0)';
      if ((await tx.run(update, newCounter, clock.now(), row.id, newCounter)) === 0) throw refused(); // the passkey was removed, or cloned, meanwhile
    };
  };

  /** Reports a refused sign-in. */
  const reported = async <T>(device: string, work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'unauthorized')
        events.login('refused', null, { device, method: 'passkey' });
      throw error;
    }
  };

  return {
    list: () => db.all<Passkey>(`SELECT ${columns} FROM login_passkey ORDER BY created_at, id`),

    async addOptions(session, origin) {
      const host = passkeyHost(origin);
      const userName = await nameOfUser();
      if (userName === null) throw refused();
      const rows = await db.all<StoredPasskey>('SELECT * FROM login_passkey');
      requireRoom(rows.length);
      const known = rows.filter((row) => row.host === host);
      return newPasskeys.options({ use: `add:${session.id}`, origin, userName, known });
    },

    async add(session, origin, name, response) {
      const { passkey, challenge } = await newPasskeys.verify({ use: `add:${session.id}`, origin, name, response });
      await db.transaction(async (tx) => {
        if (!(await challenges.take(tx, challenge))) throw badRequest('This passkey was already added.');
        // Several may have been begun while there was room for one.
        requireRoom((await tx.get<{ count: number }>('SELECT count(*) AS count FROM login_passkey'))?.count ?? 0);
        if (!(await storePasskey(tx, passkey))) throw conflict('This passkey already exists.');
      });
      const { id, name: kept, host, created_at, used_at } = passkey;
      events.login('passkey_added', await nameOfUser(), { device: session.device, name: kept, host });
      return { id, name: kept, host, created_at, used_at };
    },

    async rename(id, name) {
      if ((await db.run('UPDATE login_passkey SET name = ? WHERE id = ?', name.trim(), id)) === 0) throw notFound('passkey', id);
    },

    async remove(id, session) {
      await db.transaction(async (tx) => {
        if ((await tx.run('DELETE FROM login_passkey WHERE id = ?', id)) === 0) throw notFound('passkey', id);
        await accounts.requireFactor(tx);
      });
      events.login('passkey_removed', await nameOfUser(), { device: session.device });
    },

    signInOptions: (origin) => requestOptions('sign-in', origin),

    signIn: (visitor, response) =>
      reported(
        visitor.device,
        prove('sign-in', visitor.origin, response).then((proof) => signIn.enter(visitor, 'passkey', proof)),
      ),

    stepUpOptions: ({ id }, origin) => requestOptions(`step-up:${id}`, origin),

    stepUp: (session, origin, response) =>
      reported(
        session.device,
        prove(`step-up:${session.id}`, origin, response).then((proof) => signIn.renew(session, proof)),
      ),
  };
}
