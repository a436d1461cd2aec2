import { hash } from 'node:crypto';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import type { ConnectorState, StateValue } from '@svc/connector-kit';
import type { Clock } from '@svc/service-kit/clock.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import type { ClientsFile } from '../people/clients-file.ts';

/**
 * Where the authorization server keeps what it knows. Tokens, codes and grants outlive the process; they are found by the digest of their
 * value, which itself is nowhere on the disk. An authorization that waits for its approval is kept in memory alone: anyone may begin one.
 */
export type StoredModels = {
  /** The store of one kind of thing, as the authorization server asks for it. */
  adapterOf(model: string): Adapter;
  /** Deletes everything issued to a client; with `registration`, the client itself, too. */
  forgetClient(clientId: string, options: { registration: boolean }): Promise<void>;
  /** Clients that registered themselves, the oldest registration first. */
  clientIds(): Promise<string[]>;
  /** Removes what has expired. */
  sweep(): Promise<void>;
};

type Deps = { state: ConnectorState; clients: ClientsFile; clock: Clock };
/** `at`: when it was stored, epoch ms; earlier versions did not store that. */
type Row = { id: string; payload: Record<string, StateValue>; expiresAt: number | null; at?: number };

/** Kinds that need not survive a restart. */
const passing = new Set(['Interaction', 'Session', 'ReplayDetection']);
const given = ['AccessToken', 'RefreshToken', 'AuthorizationCode', 'Grant'];
const maxPassing = 2_000;
/**
 * How long a used token is kept, to notice that it is used again, ms. A program renews its token every hour for months: all of them
 * together would fill the state.
 */
const keptUsedMs = 7 * 24 * 60 * 60_000;
const root = 'oauth/';

export function createStoredModels({ state, clients, clock }: Deps): StoredModels {
  const rowsOf = async (model: string): Promise<{ key: string; row: Row }[]> =>
    (await state.list(`${root}${model}/`)).map(({ key, value }) => ({ key, row: value as Row }));

  async function removeWhere(models: readonly string[], isMeant: (row: Row) => boolean): Promise<void> {
    const found = (await Promise.all(models.map(rowsOf))).flat().filter(({ row }) => isMeant(row));
    if (found.length > 0) await state.change(Object.fromEntries(found.map(({ key }) => [key, undefined])));
  }

  const lasting = (model: string): Adapter => {
    const keyOf = (id: string) => `${root}${model}/${digest(id)}`;
    const read = async (id: string): Promise<Row | undefined> => {
      const row = await state.get<Row>(keyOf(id));
      return row === undefined || isOver(row, clock.now()) ? undefined : row;
    };
    return {
      async upsert(id, payload, expiresIn) {
        const { jti: _secret, ...rest } = payload as Record<string, StateValue>;
        // A client's id is not a secret, and must be listed.
        const row: Row = {
          id: model === 'Client' ? id : '',
          payload: rest,
          expiresAt: endOf(clock, expiresIn),
          at: clock.now(),
        };
        await state.set(keyOf(id), row);
      },
      async find(id) {
        const known = model === 'Client' ? clients.find(id) : null;
        if (known !== null) return toMetadata(known);
        const row = await read(id);
        return row === undefined ? undefined : ({ ...row.payload, ...(model !== 'Client' && { jti: id }) } as AdapterPayload);
      },
      async consume(id) {
        const row = await read(id);
        if (row === undefined) return;
        await state.set(keyOf(id), { ...row, payload: { ...row.payload, consumed: Math.floor(clock.now() / 1000) } });
      },
      destroy: (id) => state.delete(keyOf(id)),
      revokeByGrantId: (grantId) => removeWhere([model], ({ payload }) => payload['grantId'] === grantId),
      findByUid: async () => undefined,
      findByUserCode: async () => undefined,
    };
  };

  return {
    adapterOf: (model) => (passing.has(model) ? inMemory(clock) : lasting(model)),
    async forgetClient(clientId, { registration }) {
      await removeWhere(given, ({ payload }) => payload['clientId'] === clientId);
      if (registration) await state.delete(`${root}Client/${digest(clientId)}`);
    },
    clientIds: async () =>
      (await rowsOf('Client')).toSorted((one, other) => (one.row.at ?? 0) - (other.row.at ?? 0)).map(({ row }) => row.id),
    sweep: () => removeWhere(given, (row) => isOver(row, clock.now()) || isForgettable(row, clock.now())),
  };
}

/** Of the operator's file. What it says of redirects is checked as of any other client. */
const toMetadata = ({ client_id, client_secret, client_name, redirect_uris }: ReturnType<ClientsFile['list']>[number]) => ({
  client_id,
  client_secret,
  client_name,
  redirect_uris,
  token_endpoint_auth_method: 'client_secret_basic' as const,
});

function inMemory(clock: Clock): Adapter {
  const rows = new Map<string, { payload: AdapterPayload; expiresAt: number | null }>();
  const read = (id: string): AdapterPayload | undefined => {
    const row = rows.get(id);
    if (row === undefined || !isOver(row, clock.now())) return row?.payload;
    rows.delete(id);
    return undefined;
  };
  return {
    async upsert(id, payload, expiresIn) {
      rows.delete(id);
      rows.set(id, { payload, expiresAt: endOf(clock, expiresIn) });
      forgetOldest(rows, maxPassing);
    },
    find: async (id) => read(id),
    async consume(id) {
      const payload = read(id);
      if (payload !== undefined) payload['consumed'] = Math.floor(clock.now() / 1000);
    },
    async destroy(id) {
      rows.delete(id);
    },
    revokeByGrantId: async () => undefined,
    findByUid: async (uid) => [...rows.keys()].map(read).find((payload) => payload?.['uid'] === uid),
    findByUserCode: async () => undefined,
  };
}

const isForgettable = ({ payload: { consumed } }: Row, now: number): boolean =>
  typeof consumed === 'number' && now - consumed * 1000 > keptUsedMs;
const digest = (id: string): string => hash('sha256', id, 'hex');
const endOf = (clock: Clock, expiresIn: number | undefined): number | null =>
  expiresIn === undefined || expiresIn <= 0 ? null : clock.now() + expiresIn * 1000;
const isOver = ({ expiresAt }: { expiresAt: number | null }, now: number): boolean => expiresAt !== null && expiresAt <= now;
