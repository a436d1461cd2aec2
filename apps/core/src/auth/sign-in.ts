import type { Clock } from '@svc/service-kit/clock.ts';
import { createLane } from '@svc/service-kit/lane.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { queueFull, ServiceError } from '@svc/service-kit/service-error.ts';
import { tokenHash } from '@svc/service-kit/setup-link.ts';
import type { Database, Transaction } from '@svc/store/database.ts';
import type { LoginSessions, LoginTokens } from './login-sessions.ts';
import { hashPassword, isPassword } from './password.ts';
import { bareCode, totpStep } from './second-factor.ts';

const maxWaiting = 8;
const longestWaitS = 30;

export type Account = {
  name: string;
  password: string;
  totp_secret: string;
  totp_step: number;
  failures: number;
  not_before: number;
  link_hash: string;
};
export type Credentials = { name: string; password: string; code: string };
type Deps = { db: Database; sessions: LoginSessions; clock: Clock; log: Log };

export interface SignIn {
  account(): Promise<Account | undefined>;
  /** @throws ServiceError `unauthorized` whatever of it was wrong, `busy` before the next try is looked at */
  signIn(credentials: Credentials, device: string): Promise<LoginTokens>;
  /** A second factor anew, which gives the session new tokens. @throws as `signIn` does */
  stepUp(session: { id: string; device: string }, code: string): Promise<LoginTokens>;
}

const wrong = () =>
  new ServiceError(
    'unauthorized',
    'Name, password or code is wrong. Try again; a code is good once, a new one comes every 30 s.',
  );

/** Guesses are looked at one after the other, so that many at once are no way round the waiting time. */
export function createSignIn({ db, sessions, clock, log }: Deps): SignIn {
  const lane = createLane(1);
  let waiting = 0;
  /** Stands for the account that is not there, so that the answer takes as long. */
  const nobody = hashPassword('nobody has this password');

  const account = () => db.get<Account>('SELECT * FROM login_account');

  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    if (waiting >= maxWaiting) throw queueFull(`${waiting} sign-ins wait already. Try again in a moment.`, 1);
    waiting++;
    try {
      return await lane(work);
    } finally {
      waiting--;
    }
  };

  const checkWait = (found: Account | undefined): void => {
    const seconds = Math.ceil(((found?.not_before ?? 0) - clock.now()) / 1000);
    if (seconds <= 0) return;
    const message = `The last sign-in was wrong. Try again in ${seconds} s.`;
    throw new ServiceError('busy', message, { details: { retry_after_s: seconds } });
  };

  const refuse = async (found: Account | undefined): Promise<never> => {
    const failures = (found?.failures ?? 0) + 1;
    const waitS = Math.min(2 ** Math.min(failures - 1, 5), longestWaitS);
    await db.run('UPDATE login_account SET failures = ?, not_before = ?', failures, clock.now() + waitS * 1000);
    log.warn({ failures, wait_s: waitS }, 'a sign-in was refused');
    throw wrong();
  };

  /** Uses a code up, in the transaction that lets its owner in. */
  const takeCode = async (tx: Transaction, { totp_secret }: Account, code: string): Promise<boolean> => {
    const step = totpStep(totp_secret, code.trim(), clock.now());
    if (step !== null) return (await tx.run('UPDATE login_account SET totp_step = ? WHERE totp_step < ?', step, step)) > 0;
    return (await tx.run('DELETE FROM login_recovery_code WHERE hash = ?', tokenHash(bareCode(code)))) > 0;
  };

  const letIn = async (found: Account, code: string, work: (tx: Transaction) => Promise<LoginTokens>): Promise<LoginTokens> => {
    const tokens = await db.transaction(async (tx) => {
      if (!(await takeCode(tx, found, code))) return null;
      await tx.run('UPDATE login_account SET failures = 0, not_before = 0');
      return work(tx);
    });
    return tokens ?? refuse(found);
  };

  return {
    account,

    signIn: ({ name, password, code }, device) =>
      inTurn(async () => {
        const found = await account();
        checkWait(found);
        const isRight = await isPassword(password, found?.password ?? (await nobody));
        if (found === undefined || !isRight || name !== found.name) return refuse(found);
        const tokens = await letIn(found, code, (tx) => sessions.open(tx, device));
        log.info({ device }, 'the operator signed in');
        return tokens;
      }),

    stepUp: ({ id, device }, code) =>
      inTurn(async () => {
        const found = await account();
        checkWait(found);
        if (found === undefined) return refuse(found);
        return letIn(found, code, async (tx) => {
          if (!(await sessions.end(tx, id))) throw wrong();
          return sessions.open(tx, device);
        });
      }),
  };
}
