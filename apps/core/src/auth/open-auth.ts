import type { LoginSession } from '@svc/contract/auth.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import { readInstallationKey } from '@svc/service-kit/installation-key.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { Database } from '@svc/store/database.ts';
import type { LoginEvents } from '../event/login-events.ts';
import { createAccounts } from './accounts.ts';
import { type AuthenticatorApp, createAuthenticatorApp } from './authenticator-app.ts';
import { createKnownDevices } from './known-devices.ts';
import { createLoginSessions, type LoginSessions } from './login-sessions.ts';
import { createLoginThrottle } from './login-throttle.ts';
import { createPasskeyChallenges } from './passkey-challenges.ts';
import { createNewPasskeys } from './new-passkey.ts';
import { createPasskeys, type Passkeys } from './passkeys.ts';
import { createSeal } from './seal.ts';
import { createSetUp, type SetUp } from './set-up.ts';
import { createSignIn, type SignIn } from './sign-in.ts';

/** The login of the operator: set-up, sign-in and sessions. */
export interface Auth {
  readonly sessions: LoginSessions;
  readonly signIn: SignIn;
  readonly setUp: SetUp;
  readonly passkeys: Passkeys;
  readonly authenticatorApp: AuthenticatorApp;
  /** Ends a session. `by`: the session that requests it. False when there is none. */
  endSession(id: string, by: LoginSession): Promise<boolean>;
  /** Makes ten new recovery codes; the earlier ones become invalid. */
  makeCodes(by: LoginSession): Promise<string[]>;
}

type Deps = {
  loginDb: Database;
  paths: Pick<DataPaths, 'run' | 'loginKey'>;
  events: LoginEvents;
  clock: Clock;
  ids: Ids;
  log: Log;
};

export function openAuth({ loginDb: db, paths, events, clock, ids, log }: Deps): Auth {
  const seal = createSeal(readInstallationKey(paths.loginKey, 'codes of the authenticator app cannot be compared.'));
  const accounts = createAccounts(db, seal, clock);
  const sessions = createLoginSessions(db, clock, ids);
  const devices = createKnownDevices(db, clock);
  const throttle = createLoginThrottle(db, clock);
  const signIn = createSignIn({ db, accounts, sessions, devices, throttle, events, log });
  const challenges = createPasskeyChallenges(seal, clock);
  const newPasskeys = createNewPasskeys({ challenges, clock, log });
  const nameOfUser = async () => (await accounts.find())?.name ?? null;

  return {
    sessions,
    signIn,
    setUp: createSetUp({ db, run: paths.run, seal, signIn, sessions, devices, challenges, newPasskeys, events, clock, log }),
    passkeys: createPasskeys({ db, accounts, signIn, challenges, newPasskeys, events, clock, log }),
    authenticatorApp: createAuthenticatorApp({ db, seal, accounts, signIn, events, clock }),

    async endSession(id: string, by: LoginSession): Promise<boolean> {
      if (!(await sessions.end(db, id))) return false;
      events.login(id === by.id ? 'signed_out' : 'session_ended', await nameOfUser(), { device: by.device, session: id });
      return true;
    },

    async makeCodes(by: LoginSession): Promise<string[]> {
      const codes = await db.transaction((tx) => accounts.renewRecoveryCodes(tx));
      events.login('recovery_codes_made', await nameOfUser(), { device: by.device });
      return codes;
    },
  };
}
