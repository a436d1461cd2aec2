import type { Clock } from '@svc/service-kit/clock.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { Database } from '@svc/store/database.ts';
import { createLoginSessions } from './login-sessions.ts';
import { createSetUp } from './set-up.ts';
import { createSignIn } from './sign-in.ts';

type Deps = { db: Database; run: string; clock: Clock; ids: Ids; log: Log };

/** The login of the operator: how it is set up, who gets in, and where they are signed in. */
export function openAuth({ db, run, clock, ids, log }: Deps) {
  const sessions = createLoginSessions(db, clock, ids);
  const signIn = createSignIn({ db, sessions, clock, log });
  return { sessions, signIn, setUp: createSetUp({ db, run, signIn, sessions, clock, log }) };
}
