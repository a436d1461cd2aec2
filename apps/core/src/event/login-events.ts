import type { LoginAction } from '@svc/contract/auth.ts';
import type { EventOut } from './event-out.ts';

/** Events of the login. */
export interface LoginEvents {
  /** `user`: the authenticated person who did it; null for an unknown one. `facts` contain no secrets. */
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
