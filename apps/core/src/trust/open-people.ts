import type { Events } from '../events.ts';
import { createInvitations, type Invitations } from './invitations.ts';
import { createRedeemInvitation, type RedeemInvitation } from './redeem-invitation.ts';
import { openPending, type Pending } from './pending.ts';
import { createPairing, type Pairing } from './pairing.ts';
import { openTrust } from './open-trust.ts';
import { createTrustAdmin, type TrustAdmin } from './trust-admin.ts';
import type { ChangeDeps } from './trust-change.ts';
import type { TrustService } from './trust-service.ts';

type Deps = Parameters<typeof openTrust>[0] & Omit<ChangeDeps, 'trust'> & { events: Pick<Events, 'linked'> };

/** Everything about people: who they are, what they may do, who waits for access, and how these are changed. */
export type People = {
  trust: TrustService;
  pending: Pending;
  pairing: Pairing;
  invitations: Invitations;
  redeemInvitation: RedeemInvitation;
  trustAdmin: TrustAdmin;
};

export async function openPeople(deps: Deps): Promise<People> {
  const trust = await openTrust(deps);
  const pending = await openPending(deps);
  return {
    trust,
    pending,
    pairing: createPairing({ ...deps, pending, trust }),
    invitations: createInvitations(deps),
    redeemInvitation: createRedeemInvitation({ ...deps, trust }),
    trustAdmin: createTrustAdmin({ ...deps, trust }),
  };
}
