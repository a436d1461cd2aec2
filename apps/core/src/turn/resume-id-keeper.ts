import type { Clock } from '@svc/service-kit/clock.ts';
import type { OpenSession, SessionStore } from '../session/session-store.ts';

type Deps = { session: OpenSession; sessions: Pick<SessionStore, 'keepEngineSession'>; clock: Pick<Clock, 'after'> };

/** Stores the resume id that an engine has given, so that a killed turn can be resumed. */
export type ResumeIdKeeper = {
  keepSoon(engineSessionId: string): void;
  /** At the end of a turn: the id that still has to be stored, together with the turn's totals; null when there is none. Rejects when an id could not be stored. */
  unkept(): Promise<string | null>;
};

/** A turn that ends sooner stores the id together with its totals. */
const keepWithinMs = 10;

export function createResumeIdKeeper({ session, sessions, clock }: Deps): ResumeIdKeeper {
  let keeping: Promise<unknown> | null = null;
  let unkept: string | null = null;
  let cancel = () => undefined as void;

  return {
    keepSoon(engineSessionId) {
      unkept = engineSessionId;
      cancel();
      cancel = clock.after(keepWithinMs, () => {
        unkept = null;
        keeping = sessions.keepEngineSession(session, engineSessionId);
        keeping.catch(() => undefined); // `unkept` rejects with it; without this, an unhandled rejection would end the process
      });
    },
    async unkept() {
      cancel();
      if (keeping !== null) await keeping;
      return unkept;
    },
  };
}
