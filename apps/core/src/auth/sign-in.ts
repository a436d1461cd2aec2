import type { LoginSession } from '@svc/contract/auth.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { Database, Transaction } from '@svc/store/database.ts';
import type { LoginEvents } from '../event/login-events.ts';
import type { Account, Accounts } from './accounts.ts';
import type { KnownDevices } from './known-devices.ts';
import type { LoginSessions, LoginTokens } from './login-sessions.ts';
import type { LoginThrottle, Source } from './login-throttle.ts';
import { checkNewPassword, hashPassword, impossiblePassword, isPassword } from './password.ts';
import type { Visitor } from './visitor.ts';

/** This many wrong guesses in a row end the session in which they were typed. */
const mostWrongInSession = 10;

export type Credentials = { name: string; password: string; code: string };
/** `deviceCookie` identifies the browser at its next sign-in. */
export type Entry = LoginTokens & { deviceCookie: string };
type Deps = {
  db: Database;
  accounts: Accounts;
  sessions: LoginSessions;
  devices: KnownDevices;
  throttle: LoginThrottle;
  events: LoginEvents;
  log: Log;
};

export interface SignIn {
  account(): Promise<Account | undefined>;
  /** @throws ServiceError `unauthorized`, the same whatever was wrong; `busy` until the next attempt is allowed */
  signIn(credentials: Credentials, visitor: Visitor): Promise<Entry>;
  /** Signs in a visitor who was authenticated in another way. `proof` writes in the same transaction. */
  enter(visitor: Visitor, method: LoginSession['method'], proof: (tx: Transaction) => Promise<void>): Promise<Entry>;
  /**
   * Checks guesses in a session, one after the other. `work` throws a `WrongGuess` for a wrong one; for a right one that proves who typed it, it
   * clears `source`. @throws the ServiceError of the `WrongGuess`; `busy` until the next attempt is allowed
   */
  guess<T>(session: LoginSession, work: (source: Source) => Promise<T>): Promise<T>;
  /** Checks a second factor again, and gives the session new tokens. @throws like `signIn` */
  stepUp(session: LoginSession, code: string): Promise<LoginTokens>;
  /** The same for a second factor that was checked in another way. */
  renew(session: LoginSession, proof: (tx: Transaction) => Promise<void>): Promise<LoginTokens>;
  /** Ends every other session. @throws ServiceError `unauthorized` for a wrong password, `bad_request` for a new one that is easily guessed */
  changePassword(session: LoginSession, password: string, next: string): Promise<void>;
}

const wrong = () =>
  new ServiceError(
    'unauthorized',
    'Name, password or code is wrong. Try again. Each code works once, and a new one appears every 30 s.',
  );

/** For a signed-in person who is asked only for the code. */
const wrongCode = () =>
  new ServiceError('unauthorized', 'The code is wrong. Try again. Each code works once, and a new one appears every 30 s.');
const wrongPassword = () => new ServiceError('unauthorized', 'The current password is wrong. Type it again.');

/** A wrong guess that counts. */
export class WrongGuess extends Error {
  /** The answer to it. */
  readonly refusal: ServiceError;
  constructor(refusal: ServiceError) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

export function createSignIn({ db, accounts, sessions, devices, throttle, events, log }: Deps): SignIn {
  const sourceOf = async ({ deviceCookies }: Visitor, code: string): Promise<Source> => {
    const device = await devices.find(deviceCookies);
    if (device !== null) return `device:${device}`;
    const recovery = await accounts.recoveryHash(code);
    return recovery === null ? 'stranger' : `recovery:${recovery}`;
  };

  const refuse = async (source: Source, device: string): Promise<never> => {
    const failures = await throttle.fail(source);
    log.warn({ failures, device }, 'a sign-in was refused');
    events.login('refused', null, { device, failures });
    throw wrong();
  };

  const enter: SignIn['enter'] = async ({ device, deviceCookies }, method, proof) => {
    const entry = await db.transaction(async (tx) => {
      await proof(tx);
      const deviceCookie = await devices.note(tx, deviceCookies);
      return { ...(await sessions.open(tx, { device, method })), deviceCookie };
    });
    const account = await accounts.find();
    log.info({ device, method }, 'the operator signed in');
    events.login('signed_in', account?.name ?? null, { device, method });
    return entry;
  };

  const renew: SignIn['renew'] = async ({ id, device, method }, proof) => {
    const tokens = await db.transaction(async (tx) => {
      await proof(tx);
      if (!(await sessions.end(tx, id))) throw wrong();
      return sessions.open(tx, { device, method });
    });
    const account = await accounts.find();
    events.login('stepped_up', account?.name ?? null, { device });
    return tokens;
  };

  /** Runs in the transaction that signs in, so that neither happens without the other. */
  const codeTaken = (account: Account, code: string, source: Source) => async (tx: Transaction) => {
    if (!(await accounts.takeCode(tx, account, code))) throw new WrongGuess(wrongCode());
    await throttle.clear(tx, source);
  };
  const orRefuse = async <T>(work: Promise<T>, refusal: (guess: WrongGuess) => Promise<never>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (error instanceof WrongGuess) return refusal(error);
      throw error;
    }
  };

  const wrongInSession = async (source: Source, { id, device }: LoginSession, refusal: ServiceError): Promise<never> => {
    if ((await throttle.fail(source)) < mostWrongInSession) throw refusal;
    await db.transaction(async (tx) => {
      await sessions.end(tx, id);
      await throttle.clear(tx, source);
    });
    events.login('session_ended', null, { device, why: 'too many wrong codes' });
    throw refusal;
  };

  const guess: SignIn['guess'] = (session, work) => {
    const source: Source = `session:${session.id}`;
    return throttle.inTurn(source, () => orRefuse(work(source), ({ refusal }) => wrongInSession(source, session, refusal)));
  };

  return {
    account: accounts.find,
    enter,
    renew,
    guess,

    async signIn({ name, password, code }, visitor) {
      const source = await sourceOf(visitor, code);
      return throttle.inTurn(source, async () => {
        const found = await accounts.find();
        const isRight = await isPassword(password, found?.password ?? impossiblePassword);
        if (found === undefined || !isRight || name !== found.name) return refuse(source, visitor.device);
        return orRefuse(enter(visitor, 'password', codeTaken(found, code, source)), () => refuse(source, visitor.device));
      });
    },

    stepUp: (session, code) =>
      guess(session, async (source) => {
        const found = await accounts.find();
        if (found === undefined) throw wrong();
        return renew(session, codeTaken(found, code, source));
      }),

    changePassword: (session, password, next) =>
      guess(session, async (source) => {
        const found = await accounts.find();
        if (found === undefined) throw wrong();
        if (!(await isPassword(password, found.password))) throw new WrongGuess(wrongPassword());
        await checkNewPassword(next, found.name);
        const stored = await hashPassword(next);
        await db.transaction(async (tx) => {
          await tx.run('UPDATE login_account SET password = ?', stored);
          await sessions.endAll(tx, session.id);
          await throttle.clear(tx, source);
        });
        events.login('password_changed', found.name, { device: session.device });
      }),
  };
}
