import type { LoginAction } from '@svc/contract/auth.ts';
import type { EventOut } from './event-out.ts';

/** What happens to the login. */
export interface LoginEvents {
  /** `user`: who did it, proven; null for nobody who is known. `facts` hold no secret. */
  login(what: LoginAction, user: string | null, facts?: Record<string, string | number>): void;
}

export const loginEvents = ({ send, mask }: EventOut): LoginEvents => ({
  login: (what, user, facts = {}) =>
    send({
      kind: 'login',
      identity: user,
      payload: {
        what,
        actor: user,
        ...Object.fromEntries(
          Object.entries(facts).map(([key, value]) => [key, typeof value === 'string' ? mask(value) : value]),
        ),
      },
    }),
});
