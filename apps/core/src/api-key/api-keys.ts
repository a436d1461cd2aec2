import { randomBytes } from 'node:crypto';
import type { ApiKeyCreated, ApiKeyList, ApiKeyRevoked, NewApiKey } from '@svc/contract/api-key.ts';
import { anonymousSender, type Identifier, type Principal } from '@svc/contract/trust.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { createInTurnByKey } from '@svc/service-kit/in-turn-by-key.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { badRequest, conflict, errorText, notFound, ServiceError } from '@svc/service-kit/service-error.ts';
import type { ManagerReader } from '../instance/manager-reader.ts';
import type { Spend } from '../spend/spend.ts';
import type { RecordChange } from '../trust/record-change.ts';
import type { TrustAdmin } from '../trust/trust-admin.ts';
import { isInForce } from './is-in-force.ts';
import { keyPlaces, keyType, onlyPlace, type KeyPlace } from './key-places.ts';
import { changeKeys, readKeys, type KeyEntry } from './keys-file.ts';

/**
 * Keys of the chat completions APIs. A key is a sender with a person's rights and a budget, which the core stores; only the file that its
 * connector reads is in the instance's folder. Changes are serialized.
 */
export type ApiKeys = {
  /** The keys of one API, or of all. An unreadable file is reported and does not hide the others. */
  list(connector?: string): Promise<ApiKeyList>;
  /**
   * Creates a key. Its person and budget are stored before the key exists, so that it never has more rights than requested; a failure
   * undoes them.
   * @throws ServiceError
   */
  create(actor: string, wish: NewApiKey): Promise<ApiKeyCreated>;
  /**
   * Revokes a key: first its name is denied, then it is removed from the connector's file. A name that other keys use stays known. Resolves
   * when a running connector rejects the key, or with `effective: false` when it still accepts it after some seconds.
   * @throws ServiceError
   */
  revoke(actor: string, name: string, connector?: string): Promise<ApiKeyRevoked>;
};

type Deps = {
  manager: Pick<ManagerReader, 'instances'>;
  instancesDir: string;
  trustAdmin: Pick<TrustAdmin, 'listPrincipals' | 'readPrincipal' | 'addIdentifier' | 'removeIdentifier'>;
  spend: Pick<Spend, 'report' | 'setBudget'>;
  record: RecordChange;
  knownSecrets: Pick<KnownSecrets, 'learn'>;
  clock: Clock;
};

export function createApiKeys(deps: Deps): ApiKeys {
  const inTurn = createInTurnByKey({ ofKey: 32, all: 32, what: 'changes of keys' });
  return {
    list: (connector) => list(deps, connector),
    create: (actor, wish) => inTurn('keys', () => create(deps, actor, wish)),
    revoke: (actor, name, connector) => inTurn('keys', () => revoke(deps, actor, name, connector)),
  };
}

async function list(deps: Deps, connector: string | undefined): Promise<ApiKeyList> {
  const places = await keyPlaces(deps, connector);
  const principals = await deps.trustAdmin.listPrincipals();
  const found = places.map((place) => ({ place, ...entriesOf(place) }));
  return {
    keys: found.flatMap(({ place, entries }) =>
      entries.map(({ key, identity }) => ({
        name: identity,
        ending: key.length < 20 ? '' : key.slice(-4),
        for: holderOf(principals, identity)?.key ?? null,
        connector: place.id,
        budget: budgetOf(deps, identity),
      })),
    ),
    connectors: found.map(({ place: { id, name, url }, fault }) => ({ connector: id, name, url, fault })),
  };
}

function entriesOf({ file }: KeyPlace): { entries: KeyEntry[]; fault: string | null } {
  try {
    return { entries: readKeys(file), fault: null };
  } catch (error) {
    return {
      entries: [],
      fault: error instanceof ServiceError ? error.message : `The keys of this connector cannot be read: ${errorText(error)}`,
    };
  }
}

async function create(deps: Deps, actor: string, { name, month_usd: budget, ...wish }: NewApiKey): Promise<ApiKeyCreated> {
  if (name === anonymousSender)
    throw badRequest(`A key cannot be called "${name}": that name is reserved for callers without a key. Choose another name.`);
  const place = onlyPlace(await keyPlaces(deps, wish.connector));
  if (readKeys(place.file).some(({ identity }) => identity === name)) throw taken(name);
  const person = wish.for === undefined ? await theOwner(deps) : await deps.trustAdmin.readPrincipal(wish.for);
  const undo = await giveRights(deps, actor, { name, person, budget });
  const key = `sk-svc-${randomBytes(32).toString('base64url')}`;
  deps.knownSecrets.learn([key]);
  try {
    await changeKeys(place.file, (keys) => added(keys, { key, identity: name, username: name }));
  } catch (error) {
    await undo();
    throw error;
  }
  const facts = { name, connector: place.id, month_usd: budget ?? null };
  await deps.record({ actor, what: 'key_created', principal: person.key, before: null, after: facts });
  const effective = await isInForce(deps.clock, place.url, key, true);
  return { name, key, for: person.key, connector: place.id, url: place.url, budget_usd: budget ?? null, effective };
}

type Rights = { name: string; person: Principal; budget: number | undefined };

/** Lets the name act for the person, within the budget. The returned function undoes what was changed. */
async function giveRights(deps: Deps, actor: string, { name, person, budget }: Rights): Promise<() => Promise<void>> {
  const wasKnown = identifierOf([person], name) !== null;
  const before = budgetOf(deps, name)?.month_usd ?? null;
  const identifier = await deps.trustAdmin.addIdentifier(actor, person.key, keyType, name);
  const undo = async () => {
    if (!wasKnown) await deps.trustAdmin.removeIdentifier(actor, identifier.id);
    if (budget !== undefined) await deps.spend.setBudget(keyType, name, before);
  };
  try {
    if (budget !== undefined) await deps.spend.setBudget(keyType, name, budget);
    return undo;
  } catch (error) {
    await undo();
    throw error;
  }
}

function added(keys: readonly KeyEntry[], entry: KeyEntry): KeyEntry[] {
  if (keys.some(({ identity }) => identity === entry.identity)) throw taken(entry.identity);
  return [...keys, entry];
}

const taken = (name: string) => conflict(`A key named "${name}" already exists. Choose another name, or revoke that key first.`);

/** The person for whom keys act by default. */
async function theOwner({ trustAdmin }: Deps): Promise<Principal> {
  const isOwner = ({ grants, status }: Principal) => status === 'active' && grants.some(({ role }) => role === 'owner');
  const [owner, ...more] = (await trustAdmin.listPrincipals()).filter(isOwner);
  if (owner !== undefined && more.length === 0) return owner;
  const why =
    owner === undefined
      ? 'no person has the role owner'
      : `several people have the role owner: ${[owner, ...more].map(({ key }) => key).join(', ')}`;
  throw conflict(`Name the person for whom the key acts ("for"): ${why}.`);
}

async function revoke(deps: Deps, actor: string, name: string, connector: string | undefined): Promise<ApiKeyRevoked> {
  const all = await keyPlaces(deps);
  // An unreadable file may contain the name as well: then nothing is changed.
  const having = (places: readonly KeyPlace[]) =>
    places.filter(({ file }) => readKeys(file).some(({ identity }) => identity === name));
  const found = having(connector === undefined ? all : await keyPlaces(deps, connector));
  if (found.length === 0) throw notFound('key', name);
  const place = onlyPlace(found);
  const holder = holderOf(await deps.trustAdmin.listPrincipals(), name);
  const budget = budgetOf(deps, name)?.month_usd ?? null;
  if (having(all).length === 1) await takeRights(deps, actor, { name, holder });
  const gone = await takeOut(place.file, name);
  const facts = { name, connector: place.id, month_usd: budget };
  await deps.record({ actor, what: 'key_revoked', principal: holder?.key ?? null, before: facts, after: null });
  const effective = await isInForce(deps.clock, place.url, gone[0]?.key ?? '', false);
  return { name, connector: place.id, keys: gone.length, effective };
}

async function takeRights(deps: Deps, actor: string, { name, holder }: { name: string; holder: Principal | null }) {
  const identifier = holder === null ? null : identifierOf([holder], name);
  if (identifier !== null) await deps.trustAdmin.removeIdentifier(actor, identifier.id);
  await deps.spend.setBudget(keyType, name, null);
}

async function takeOut(file: string, name: string): Promise<KeyEntry[]> {
  let gone: KeyEntry[] = [];
  await changeKeys(file, (keys) => {
    gone = keys.filter(({ identity }) => identity === name);
    return keys.filter(({ identity }) => identity !== name);
  });
  return gone;
}

const isKeyName = ({ surface, value }: Identifier, name: string): boolean => surface === keyType && value === name;

const holderOf = (principals: readonly Principal[], name: string): Principal | null =>
  principals.find(({ identifiers }) => identifiers.some((one) => isKeyName(one, name))) ?? null;

const identifierOf = (principals: readonly Principal[], name: string): Identifier | null =>
  principals.flatMap(({ identifiers }) => identifiers).find((one) => isKeyName(one, name)) ?? null;

function budgetOf({ spend }: Deps, name: string): { month_usd: number; spent_usd: number } | null {
  const budget = spend.report().budgets.find(({ surface, value }) => surface === keyType && value === name);
  return budget === undefined ? null : { month_usd: budget.month_usd, spent_usd: budget.spent_usd };
}
