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
/** `at`: by the monotonic clock. */
type Pending = { id: string; key: Secret; at: number };

/** The authenticator app of a login that is set up. It is replaced only with a valid code of the new app. */
export interface AuthenticatorApp {
  isSet(): Promise<boolean>;
  /** Makes a key that waits in memory for its first code, for ten minutes; an earlier one is dropped. */
  begin(): Promise<Omit<TotpBegun, 'ok'>>;
  /**
   * Adds the app, or replaces the present one; nobody is signed out. The code counts as used.
   * @throws ServiceError `bad_request` for a wrong code, `conflict` when the key of `id` is no longer pending
   */
  confirm(session: LoginSession, id: string, code: string): Promise<void>;
  /** @throws ServiceError `conflict` for the last second factor, `not_found` when there is no app */
  remove(session: LoginSession): Promise<void>;
}

const noAccount = () => new ServiceError('unauthorized', 'This login no longer exists. Sign in again.');
const notPending = () =>
  conflict(
    'This key can no longer be confirmed: ten minutes have passed, a newer key was made, or the service was restarted. Start again.',
  );

export function createAuthenticatorApp({ db, seal, accounts, signIn, events, clock }: Deps): AuthenticatorApp {
  /** One for all sessions, because they belong to one person. It is lost with the process, which has changed nothing by then. */
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

    // A valid code of the new app does not prove who typed it, so it clears no wrong guesses at the password or the former app.
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
