import { badRequest, notFound } from '@svc/service-kit/service-error.ts';
import type { ApprovalCodes } from './consent/approval-codes.ts';
import type { WaitingClients } from './consent/waiting-clients.ts';
import type { Approvals } from './consent/approvals.ts';
import type { OpenAccess } from './mcp/open-access.ts';
import type { KeptDocuments } from './oauth/kept-documents.ts';
import type { StoredModels } from './oauth/stored-models.ts';
import type { ClientsFile } from './people/clients-file.ts';

type Deps = {
  codes: ApprovalCodes;
  waiting: WaitingClients;
  approvals: Approvals;
  models: StoredModels;
  documents: KeptDocuments;
  clients: ClientsFile;
  access: OpenAccess;
};

/** A client in the list of `clients`. `by`: who has registered it. */
export type ListedClient = {
  client_id: string;
  client_name: string;
  user_id: string;
  by: 'operator' | 'itself';
  /** When it was let in, epoch ms; null while it was not. */
  approved_at: number | null;
  redirect_to: string | null;
};

/** What the operator does with this instance, by `./svc toolserver` (`POST /instances/:id/call`). */
export function createCalls(deps: Deps) {
  const calls: Record<string, (params: Record<string, unknown>) => Promise<unknown>> = {
    approve: async ({ client_id: clientId, invitation, principal }) => {
      const { code, expiresInMs } = deps.codes.issue({
        ...(typeof clientId === 'string' && { clientId }),
        ...(typeof invitation === 'string' && {
          invited: { invitation, principal: typeof principal === 'string' ? principal : null },
        }),
      });
      return { code, expires_in_s: expiresInMs / 1000, waiting: await deps.waiting.list() };
    },
    clients: async () => ({ clients: await listClients(deps), waiting: await deps.waiting.list() }),
    revoke: async ({ client_id: id }) => {
      if (typeof id !== 'string') throw badRequest('client_id is required.');
      await revoke(deps, id);
      return { revoked: id };
    },
  };
  return async (method: string, params: Record<string, unknown>): Promise<unknown> => {
    const call = calls[method];
    if (call === undefined) throw notFound('method', method);
    return call(params);
  };
}

async function listClients({ approvals, clients }: Deps): Promise<ListedClient[]> {
  const approved = await approvals.list();
  const own = clients.list();
  const waiting = own.filter(({ client_id: id }) => approved.every((approval) => approval.client_id !== id));
  return [
    ...approved.map(({ client_id, client_name, user_id, approved_at, redirect_to }) => ({
      client_id,
      client_name,
      user_id,
      by: own.some(({ client_id: id }) => id === client_id) ? ('operator' as const) : ('itself' as const),
      approved_at,
      redirect_to,
    })),
    ...waiting.map(({ client_id, client_name, identity }) => ({
      client_id,
      client_name,
      user_id: identity.userId,
      by: 'operator' as const,
      approved_at: null,
      redirect_to: null,
    })),
  ];
}

/** Its tokens are worth nothing from the first line on: the approval goes first, then what was begun with it. */
async function revoke({ approvals, models, documents, clients, access }: Deps, clientId: string): Promise<void> {
  if ((await approvals.find(clientId)) === undefined) throw notFound('approved client', clientId);
  await approvals.remove(clientId);
  access.endAll(clientId);
  await documents.forget(clientId);
  await models.forgetClient(clientId, { registration: clients.find(clientId) === null });
}
