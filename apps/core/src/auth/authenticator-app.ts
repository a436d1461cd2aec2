import type { LoginSession, TotpBegun } from '@svc/contract/auth.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { Secret } from '@svc/service-kit/secret.ts';
import { conflict, ServiceError } from '@svc/service-kit/service-error.ts';
import { newToken } from '@svc/service-kit/setup-link.ts';
import type { Database } from '@svc/store/database.ts';
import type { LoginEvents } from '../event/login-events.ts';
import { type Accounts, sealTotp } from './accounts.ts';
import { newTotpSecret, totpStep, totpUri, wrongAppCode } from './second-factor.ts';
import type { Seal } from './seal.ts';
import { type SignIn, WrongGuess } from './sign-in.ts';

const pendingMs = 10 * 60_000;

type Deps = {
  db: Database;
  seal: Seal;
  accounts: Accounts;
  signIn: Pick<SignIn, 'account' | 'guess'>;
  events: LoginEvents;
  clock: Clock;
};
/** `at`: by the clock that only goes forward. */
type Pending = { id: string; key: Secret; at: number };

/** The authenticator app of a login that is set up. Whose codes sign in changes by a code of the new one alone. */
export interface AuthenticatorApp {
  isSet(): Promise<boolean>;
  /** A key that waits ten minutes for its first code, in this process; one that waited before is dropped. */
  begin(): Promise<Omit<TotpBegun, 'ok'>>;
  /**
   * Adds the app, or puts it in place of the one there is; nobody is signed out. The code is used up.
   * @throws ServiceError `bad_request` for a wrong code, `conflict` when the key of `id` does not wait any more
   */
  confirm(session: LoginSession, id: string, code: string): Promise<void>;
  /** @throws ServiceError `conflict` for the last second factor, `not_found` when there is no app */
  remove(session: LoginSession): Promise<void>;
}

const noAccount = () => new ServiceError('unauthorized', 'There is no login any more. Sign in.');
const notPending = () =>
  conflict(
    'This key no longer waits for a code: its ten minutes are over, a newer key was made, or the service was restarted. Begin again.',
  );

export function createAuthenticatorApp({ db, seal, accounts, signIn, events, clock }: Deps): AuthenticatorApp {
  /** One for all sessions, which are of one person. Lost with the process: nothing has changed by then. */
  let pending: Pending | null = null;
  const nameOfUser = async () => (await signIn.account())?.name ?? null;

  return {
    isSet: () => accounts.hasApp(db),

    async begin() {
      const name = await nameOfUser();
      if (name === null) throw noAccount();
      const secret = newTotpSecret();
      pending = { id: newToken(), key: new Secret(secret), at: clock.elapsed() };
      return { id: pending.id, secret, uri: totpUri(secret, name) };
    },

    // Its own right code proves nothing about who types it, so it clears no guesses at the password or the former app.
    confirm: (session, id, code) =>
      signIn.guess(session, async () => {
        const begun = pending;
        if (begun?.id !== id || clock.elapsed() - begun.at >= pendingMs) throw notPending();
        const secret = begun.key.reveal();
        const step = totpStep(secret, code.trim(), clock.now());
        if (step === null) throw new WrongGuess(wrongAppCode());
        const isReplaced = await db.transaction(async (tx) => {
          const hadApp = await accounts.hasApp(tx);
          const update = 'UPDATE login_account SET totp_secret = ?, totp_step = ?';
          if ((await tx.run(update, sealTotp(seal, secret), step)) === 0) throw noAccount();
          return hadApp;
        });
        if (pending === begun) pending = null;
        events.login(isReplaced ? 'app_replaced' : 'app_added', await nameOfUser(), { device: session.device });
      }),

    async remove(session) {
      await db.transaction(async (tx) => {
        if (!(await accounts.hasApp(tx))) throw new ServiceError('not_found', 'There is no authenticator app.');
        await tx.run("UPDATE login_account SET totp_secret = '', totp_step = 0");
        await accounts.requireFactor(tx);
      });
      events.login('app_removed', await nameOfUser(), { device: session.device });
    },
  };
}
