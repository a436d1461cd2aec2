import type { Identity } from '@svc/contract/trust.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { deny } from '../deny.ts';
import { observe } from '../observe.ts';
import type { TurnDeps } from '../turn-deps.ts';
import type { Turn } from '../turn.ts';
import { resolveIdentity } from './resolve-identity.ts';

type Deps = Pick<TurnDeps, 'trust' | 'pending' | 'events' | 'observed'>;

/** Who speaks, or how the turn ends because they may not, or because their message is only seen. */
export type Admission = { identity: Identity } | { ended: HandleResult };

/** Asked when a message comes and again when its time has come: trust may have changed while it waited. */
export async function admit(deps: Deps, turn: Turn, isOnlySeen: boolean): Promise<Admission> {
  const identity = await resolveIdentity(deps, turn);
  if (identity.denied) return { ended: deny(deps, turn, identity) };
  if (isOnlySeen) return { ended: await observe(deps, turn, identity) };
  return { identity };
}
