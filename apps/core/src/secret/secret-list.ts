import { secretPlaces, type SecretEntry, type SecretList, type SecretPlace } from '@svc/contract/secret.ts';
import type { VaultCredential } from '@svc/contract/vault.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { createLane } from '@svc/service-kit/lane.ts';
import { createSecretSources, type SecretPlaces } from '@svc/service-kit/secrets/secret-sources.ts';
import { readSecretsFile } from '@svc/service-kit/secrets/secrets-file.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { VaultLink } from '../vault/vault-link.ts';
import type { ReadSecretUses, SecretUse } from './secret-users.ts';

type Deps = {
  places: SecretPlaces;
  vault: Pick<VaultLink, 'status' | 'credentials'>;
  uses: ReadSecretUses;
  clock: Clock;
};

/** The names of secrets, where each is stored and who uses it. The list contains no values, and only the secrets file is read for it. */
export type ListSecrets = () => Promise<SecretList>;

/** The limits of the secrets command: how many names, how many at once, and the total time. */
const commandLimits = { names: 32, atOnce: 4, ms: 10_000 };

export const createSecretList =
  (deps: Deps): ListSecrets =>
  async () => {
    const { places, vault } = deps;
    const [status, kept, inFile, { uses, fault }] = await Promise.all([
      vault.status(),
      vault.credentials(),
      namesInFile(places.file),
      deps.uses(),
    ]);
    const facts: Facts = {
      credentials: new Map(kept.credentials.map((credential) => [credential.name, credential])),
      inFile: new Set(inFile.names),
      env: places.env,
      given: new Set(),
      uses,
      isClosed: status.configured && status.sealed,
    };
    const names = namesToShow(facts);
    const nowhere = names.filter((name) => placesOf(facts, name).length === 0);
    const given = await fromCommand(deps, nowhere);
    return {
      secrets: names.map((name) => toEntry({ ...facts, given: given.names }, name)),
      vault: { ...status, fault: kept.fault },
      file: places.file,
      faults: [inFile.fault, given.fault, fault].filter((one) => one !== null),
    };
  };

type Facts = {
  credentials: ReadonlyMap<string, VaultCredential>;
  inFile: ReadonlySet<string>;
  env: SecretPlaces['env'];
  /** Names that the command provides. */
  given: ReadonlySet<string>;
  uses: readonly SecretUse[];
  isClosed: boolean;
};

/** All names stored in a source that can be listed, all needed names, and the other used names that exist. */
function namesToShow(facts: Facts): string[] {
  const isThere = (name: string) => placesOf(facts, name).length > 0;
  const used = facts.uses
    .filter(({ secret, isNeeded, others }) => isThere(secret) || (isNeeded && !others.some(isThere)))
    .map(({ secret }) => secret);
  return [...new Set([...facts.credentials.keys(), ...facts.inFile, ...used])].toSorted();
}

function placesOf({ credentials, inFile, env, given }: Facts, name: string): SecretPlace[] {
  const has: Record<SecretPlace, boolean> = {
    vault: credentials.has(name),
    environment: Object.hasOwn(env, name) && (env[name] ?? '') !== '',
    file: inFile.has(name),
    command: given.has(name),
  };
  return secretPlaces.filter((place) => has[place]);
}

function toEntry(facts: Facts, name: string): SecretEntry {
  const places = placesOf(facts, name);
  const credential = facts.credentials.get(name);
  return {
    name,
    places,
    min_trust: credential?.min_trust ?? null,
    updated_at: credential?.updated_at ?? null,
    used_by: facts.uses.filter(({ secret }) => secret === name).map(({ user }) => user),
    waits: facts.isClosed && places.length === 0,
  };
}

async function namesInFile(file: string): Promise<{ names: string[]; fault: string | null }> {
  try {
    return { names: Object.keys(await readSecretsFile(file)), fault: null };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { names: [], fault: error.message };
  }
}

/** Which of the names the command provides. It is run for each, because it cannot list them. */
async function fromCommand(
  { places, clock }: Deps,
  wanted: readonly string[],
): Promise<{ names: Set<string>; fault: string | null }> {
  const names = new Set<string>();
  if (places.command === null || wanted.length === 0) return { names, fault: null };
  const sources = createSecretSources(places);
  const lane = createLane(commandLimits.atOnce);
  const asked = wanted.slice(0, commandLimits.names);
  let isLate = false;
  const ask = (name: string) =>
    lane(async () => {
      const found = isLate ? { problem: '' } : await sources.find(name);
      if ('value' in found) names.add(name);
      return 'value' in found;
    });
  const late = new Promise<null>((resolve) => void clock.after(commandLimits.ms, () => resolve(null)));
  const all = await Promise.race([Promise.all(asked.map(ask)), late]);
  isLate = true;
  const isWhole = all !== null && asked.length === wanted.length;
  return {
    names: new Set(names),
    fault: isWhole ? null : 'Not every name was looked up by the command of SVC_SECRETS_COMMAND, because it takes too long.',
  };
}
