import { hash } from 'node:crypto';
import type { ConnectorState } from '@svc/connector-kit';

/** A client that the operator has let in. */
export type Approval = { client_id: string; client_name: string; user_id: string; redirect_to: string; approved_at: number };

export type Approvals = {
  find(clientId: string): Promise<Approval | undefined>;
  add(approval: Approval): Promise<void>;
  remove(clientId: string): Promise<void>;
  list(): Promise<Approval[]>;
};

const root = 'approval/';
const maxApprovals = 1_000;

/** The clients that may have tokens. A token of any other client is invalid, even if it is stored elsewhere. */
export function createApprovals(state: ConnectorState): Approvals {
  const keyOf = (clientId: string) => `${root}${hash('sha256', clientId, 'hex')}`;
  const list = async () => (await state.list(root)).map(({ value }) => value as Approval);
  return {
    find: (clientId) => state.get<Approval>(keyOf(clientId)),
    async add(approval) {
      const known = await list();
      const isNew = known.every(({ client_id: id }) => id !== approval.client_id);
      if (isNew && known.length >= maxApprovals)
        throw new Error(
          `${maxApprovals} clients are approved already, which is the maximum. Revoke some first: ./svc toolserver clients`,
        );
      await state.set(keyOf(approval.client_id), approval);
    },
    remove: (clientId) => state.delete(keyOf(clientId)),
    list,
  };
}
