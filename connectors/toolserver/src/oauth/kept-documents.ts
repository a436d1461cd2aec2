import { hash } from 'node:crypto';
import type { ConnectorState } from '@svc/connector-kit';

/** The last valid documents of approved clients, by client id, for when they cannot be fetched. */
export type KeptDocuments = {
  find(clientId: string): Promise<string | undefined>;
  keep(clientId: string, document: string): Promise<void>;
  forget(clientId: string): Promise<void>;
};

export function createKeptDocuments(state: ConnectorState): KeptDocuments {
  const keyOf = (clientId: string) => `document/${hash('sha256', clientId, 'hex')}`;
  const find = (clientId: string) => state.get<string>(keyOf(clientId));
  return {
    find,
    async keep(clientId, document) {
      if ((await find(clientId)) !== document) await state.set(keyOf(clientId), document);
    },
    forget: (clientId) => state.delete(keyOf(clientId)),
  };
}
