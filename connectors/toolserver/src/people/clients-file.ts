import { isRecord } from '@svc/contract/json-value.ts';
import type { StartContext } from '@svc/connector-kit/connector.ts';
import { openPrivateFile } from '@svc/connector-kit/private-file.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { parseJson } from '@svc/service-kit/well-formed.ts';
import { userIdPattern, type ClientUser } from './client-user.ts';

/** A client that the operator has registered by hand. */
export type RegisteredClient = {
  client_id: string;
  client_secret: string;
  client_name: string;
  redirect_uris: string[];
  identity: ClientUser;
};

export type ClientsFile = {
  find(clientId: string): RegisteredClient | null;
  list(): RegisteredClient[];
  /** Null while the file is good or not there, else what is wrong with it: then nobody gets in. */
  problem(): string | null;
};

type Options = { file: string; clock: Clock; log: StartContext['log'] };

const maxClients = 1_000;

/** The clients of the operator's file; none where there is no file. */
export function openClientsFile(options: Options): ClientsFile {
  const file = openPrivateFile<ReadonlyMap<string, RegisteredClient>>({
    ...options,
    name: 'clients file',
    parse: (text) => new Map(parseClients(text).map((client) => [client.client_id, client])),
    empty: new Map(),
    mayBeMissing: true,
    refusesLinks: true,
  });
  return {
    find: (clientId) => file.read().get(clientId) ?? null,
    list: () => [...file.read().values()],
    problem: file.problem,
  };
}

/** @throws Error that names the entry and what is wrong with it, and no secret. */
export function parseClients(text: string): RegisteredClient[] {
  const body = parseBody(text);
  const entries: unknown = isRecord(body) ? body['clients'] : undefined;
  if (!Array.isArray(entries)) throw new Error('it must contain { "clients": [ … ] }');
  if (entries.length > maxClients) throw new Error(`it has more than ${maxClients} clients`);
  const clients = entries.map(parseClient);
  const twice = clients.find(({ client_id: id }, index) => clients.findIndex((other) => other.client_id === id) !== index);
  if (twice !== undefined) throw new Error(`the client_id "${twice.client_id}" is listed twice`);
  return clients;
}

function parseBody(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new Error('it is not valid JSON'); // the parser's own words quote what is in the file
  }
}

function parseClient(entry: unknown, index: number): RegisteredClient {
  const wrong = (what: string) => new Error(`clients[${index}]: ${what}`);
  if (!isRecord(entry)) throw wrong('is not an object');
  const { client_id: id, client_secret: secret, client_name: name, redirect_uris: uris, identity } = entry;
  if (typeof id !== 'string' || !/^[\x21-\x7e]{1,256}$/.test(id))
    throw wrong('client_id must have 1 to 256 visible ASCII characters');
  if (typeof secret !== 'string' || !/^[\x20-\x7e]{16,512}$/.test(secret))
    throw wrong('client_secret must have 16 to 512 ASCII characters');
  if (typeof name !== 'string' || name === '' || name.length > 200) throw wrong('client_name must have 1 to 200 characters');
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > 20 || !uris.every((uri) => typeof uri === 'string'))
    throw wrong('redirect_uris must have 1 to 20 addresses');
  return {
    client_id: id,
    client_secret: secret,
    client_name: name,
    redirect_uris: uris as string[],
    identity: parseIdentity(identity, wrong),
  };
}

function parseIdentity(identity: unknown, wrong: (what: string) => Error): ClientUser {
  const { userId, username } = isRecord(identity) ? identity : {};
  if (typeof userId !== 'string' || !userIdPattern.test(userId))
    throw wrong('identity.userId must have 1 to 128 characters: letters, digits, and . _ - @');
  if (username !== undefined && (typeof username !== 'string' || username.length > 200))
    throw wrong('identity.username is too long');
  return { userId, username: username ?? userId };
}
