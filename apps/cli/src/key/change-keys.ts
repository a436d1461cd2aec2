import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Identifier, Principal } from '@svc/contract/trust.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { Secret } from '@svc/service-kit/secret.ts';
import { CliError } from '../cli-error.ts';
import { coreUrl } from '../service-urls.ts';
import { createTrustApi, type TrustApi } from '../trust/trust-api.ts';
import { keyPlaces, keyType, onlyPlace, setBudget, type KeyPlace } from './key-api.ts';
import { changeKeys, readKeys, type KeyEntry } from './keys-file.ts';

export type NewKey = { name: string; for?: string; budget?: number; connector?: string };
export type CreatedKey = {
  name: string;
  key: string;
  for: string;
  connector: string;
  url: string | null;
  budget_usd: number | null;
  /** Its connector takes it already. */
  effective: boolean;
};

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** The name of callers without a key. */
const reserved = 'anonymous';

/**
 * Makes a key. Whom it acts for and what it may spend is settled before the key exists, so it never has more than was asked for; what fails on
 * the way is taken back.
 */
export async function createKey(settings: CliSettings, { name, budget, connector, ...wish }: NewKey): Promise<CreatedKey> {
  checkName(name);
  const place = onlyPlace(await keyPlaces(settings, connector));
  if (readKeys(place.file).some(({ identity }) => identity === name)) throw taken(name);
  const trust = createTrustApi(coreUrl(settings));
  const person = wish.for === undefined ? await ownerOf(trust) : await trust.principal(wish.for);
  const known = identifierOf([person], name);
  const identifier = known ?? (await trust.link(person.key, keyType, name));
  try {
    if (budget !== undefined) await setBudget(settings, name, budget);
    const key = `sk-svc-${randomBytes(32).toString('base64url')}`;
    await changeKeys(place.file, (keys) => added(keys, { key, identity: name, username: name }));
    const { id, url } = place.instance;
    const effective = await isInForce(url, key, true);
    return { name, key, for: person.key, connector: id, url, budget_usd: budget ?? null, effective };
  } catch (error) {
    if (known === null) await trust.unlink(identifier.id).catch(() => undefined);
    throw error;
  }
}

function checkName(name: string): void {
  if (namePattern.test(name) && name !== reserved) return;
  const why =
    name === reserved ? 'So are callers named who have no key.' : 'It takes up to 64 of A-Z, a-z, 0-9, ".", "_" and "-".';
  throw new CliError(`a key cannot be called "${name.slice(0, 100)}".`, { why });
}

function added(keys: readonly KeyEntry[], entry: KeyEntry): KeyEntry[] {
  if (keys.some(({ identity }) => identity === entry.identity)) throw taken(entry.identity);
  return [...keys, entry];
}

const taken = (name: string) =>
  new CliError(`there is a key "${name}" already.`, { why: 'Choose another name, or revoke that one first.', run: './svc key' });

/** The person whom keys act for where nobody else is named. */
async function ownerOf(trust: TrustApi): Promise<Principal> {
  const { principals } = await trust.principals();
  const owners = principals.filter(({ grants, status }) => status === 'active' && grants.some(({ role }) => role === 'owner'));
  const [owner, ...more] = owners;
  if (owner !== undefined && more.length === 0) return owner;
  const why =
    owner === undefined
      ? 'No person has the role owner.'
      : `Several have the role owner: ${owners.map(({ key }) => key).join(', ')}.`;
  throw new CliError('say whom the key acts for.', { why, run: './svc key create NAME --for PERSON' });
}

export type RevokedKey = { name: string; connector: string; keys: number; effective: boolean };

/**
 * Takes a key away: the core denies its name first, then the connector forgets it. A name that keys elsewhere have stays known. Resolves
 * when a running connector refuses the key, or `effective: false` when it still did not after some seconds.
 */
export async function revokeKey(
  settings: CliSettings,
  { name, connector }: Pick<NewKey, 'name' | 'connector'>,
): Promise<RevokedKey> {
  const all = await keyPlaces(settings, undefined);
  const having = (places: readonly KeyPlace[]) =>
    places.filter(({ file }) => readKeys(file).some(({ identity }) => identity === name));
  const found = having(connector === undefined ? all : await keyPlaces(settings, connector));
  if (found.length === 0) throw new CliError(`there is no key "${name}".`, { run: './svc key' });
  const place = onlyPlace(found);
  if (having(all).length === 1) await forgetSender(settings, name);
  const gone: KeyEntry[] = [];
  await changeKeys(place.file, (keys) =>
    keys.filter((entry) => {
      if (entry.identity === name) gone.push(entry);
      return entry.identity !== name;
    }),
  );
  const { id, url } = place.instance;
  return { name, connector: id, keys: gone.length, effective: await isInForce(url, gone[0]?.key ?? '', false) };
}

async function forgetSender(settings: CliSettings, name: string): Promise<void> {
  const trust = createTrustApi(coreUrl(settings));
  const identifier = identifierOf((await trust.principals()).principals, name);
  if (identifier !== null) await trust.unlink(identifier.id);
  await setBudget(settings, name, null);
}

const identifierOf = (principals: readonly Principal[], value: string): Identifier | null =>
  principals.flatMap(({ identifiers }) => identifiers).find((each) => each.surface === keyType && each.value === value) ?? null;

const lookTries = 25;
const lookPauseMs = 200;

/** Waits until a running connector answers a key as it should by now. True as well for one that does not run. */
async function isInForce(url: string | null, key: string, isGood: boolean): Promise<boolean> {
  for (let left = url === null ? 0 : lookTries; left > 0; left--) {
    const answer = await requestJson(`${url}/v1/models`, { token: new Secret(key), timeoutMs: 2_000 }).catch(() => null);
    if (answer !== null && (answer.status !== 401) === isGood) return true;
    await sleep(lookPauseMs);
  }
  return url === null;
}
