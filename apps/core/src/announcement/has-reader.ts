import type { SessionStore } from '../session/session-store.ts';
import type { TrustAdmin } from '../trust/trust-admin.ts';
import { partsOf } from './announcement-target.ts';

type Deps = { trustAdmin: Pick<TrustAdmin, 'hasPrincipal' | 'hasIdentifierOn'>; sessions: Pick<SessionStore, 'read'> };

/** Whether a target names a reader that exists now. Only a sender with an identifier on a channel has sessions there. */
export async function hasReader({ trustAdmin, sessions }: Deps, target: string): Promise<boolean> {
  const { what, name } = partsOf(target);
  switch (what) {
    case 'all':
      return true;
    case 'surface':
      return trustAdmin.hasIdentifierOn(name);
    case 'identity':
      return trustAdmin.hasPrincipal(name);
    case 'session':
      return (await sessions.read(name)) !== undefined;
  }
}
