import { userName } from '@svc/service-kit/user-name.ts';
import { readIfThere } from '@svc/service-kit/files.ts';
import { parseJson } from '@svc/service-kit/well-formed.ts';
import { identifierProblem, isPrincipalKey, isSurface, toIdentifierValue } from './identifier-value.ts';
import type { NewTrustChange } from './trust-audit.ts';
import type { TrustStore, NewRole } from './trust-store.ts';

const roles: NewRole[] = [
  { name: 'owner', tier: 'SACRED', tool_policy: 'full', surfaces: '*', description: 'Runs this installation.' },
  { name: 'trusted', tier: 'TRUSTED', tool_policy: 'full', surfaces: '*', description: 'May let the assistant act.' },
  { name: 'known', tier: 'KNOWN', tool_policy: 'read', surfaces: '*', description: 'May let the assistant look things up.' },
  { name: 'guest', tier: 'GUEST', tool_policy: 'none', surfaces: '*', description: 'May talk with the assistant.' },
];

/** One principal of a trust seed file. */
type SeedPrincipal = { key: string; display_name?: string; role: string; identifiers: { surface: string; value: string }[] };

/** Called for everything that was added. */
type Report = (change: Omit<NewTrustChange, 'actor' | 'what' | 'before'>) => Promise<unknown>;

/**
 * Gives a new installation its roles and its owner (the local user, in the shell and with the first API key), then
 * applies the operator's seed file when there is one. Repeating it changes nothing: an operator's changes stay, and a
 * sender who belongs to another principal by now stays with them.
 * @throws when the seed file exists but cannot be used; nobody is let in until it is corrected.
 */
export async function seedTrust(store: TrustStore, seedFile: string, report: Report = async () => undefined): Promise<void> {
  const seeded = readSeedFile(seedFile);
  if (await store.isEmpty()) {
    for (const role of roles) await store.addRole(role);
    await seedPrincipal(store, owner(), report);
  }
  for (const principal of seeded) await seedPrincipal(store, principal, report);
}

/** The principals that a seed file lists. @throws when it cannot be used */
export const seededPrincipals = (seedFile: string): readonly Pick<SeedPrincipal, 'key' | 'identifiers'>[] =>
  readSeedFile(seedFile);

function owner(): SeedPrincipal {
  const username = userName();
  return {
    key: 'owner',
    display_name: username,
    role: 'owner',
    identifiers: [
      { surface: 'shell', value: username },
      { surface: 'compat', value: 'owner' },
    ],
  };
}

async function seedPrincipal(store: TrustStore, seed: SeedPrincipal, report: Report): Promise<void> {
  const { key, display_name, role, identifiers } = seed;
  if ((await store.findPrincipalId(key)) === null) await checkNewKey(store, key);
  const id = await store.addPrincipal({ key, display_name: display_name ?? key });
  const isGranted = await store.addGrant(id, role);
  const added: typeof identifiers = [];
  for (const { surface, value } of identifiers) {
    if ((await store.findIdentifier(surface, value)) !== null) continue; // it belongs to this principal, or to another by now
    const alike = await store.findLookAlike(id, surface, value);
    if (alike !== null) {
      throw new Error(
        `trust.seed.json: ${surface} "${value}" could be mistaken for "${alike.value}", which belongs to "${alike.key}"`,
      );
    }
    if (await store.addIdentifier(id, surface, value)) added.push({ surface, value });
  }
  if (isGranted || added.length > 0) {
    await report({ principal: key, after: { ...(isGranted ? { role } : {}), identifiers: added } });
  }
}

/** The same rules as elsewhere for new keys. An existing key stays as it is. */
async function checkNewKey(store: TrustStore, key: string): Promise<void> {
  const like = await store.findLikeKey(key);
  if (like !== null) throw new Error(`trust.seed.json: the key "${key}" could be mistaken for "${like}"; give it another key`);
  if (!isPrincipalKey(key)) {
    throw new Error(
      `trust.seed.json: the key "${key.slice(0, 80)}" must be 1 to 64 of A-Z, a-z, 0-9 and "._@+-", and begin with a letter or digit`,
    );
  }
}

function readSeedFile(file: string): SeedPrincipal[] {
  const text = readIfThere(file);
  if (text === null) return [];
  const principals = (parseSeed(text, file) as { principals?: unknown } | null)?.principals;
  if (!Array.isArray(principals)) throw new Error(`${file} needs a list "principals"`);
  const seeded = principals.map((entry, index) => parseSeedPrincipal(entry, `${file}: principals[${index}]`));
  refuseShared(seeded, file);
  return seeded;
}

function parseSeed(text: string, file: string): unknown {
  try {
    return parseJson(text, 'the file');
  } catch (error) {
    const what = error instanceof SyntaxError ? `${file} is not JSON` : file;
    throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
  }
}

/** A sender may belong to only one principal. */
function refuseShared(seeded: readonly SeedPrincipal[], file: string): void {
  const holders = new Map<string, string>();
  for (const { key, identifiers } of seeded) {
    for (const { surface, value } of identifiers) {
      const name = `${surface} "${toIdentifierValue(surface, value)}"`;
      const holder = holders.get(name) ?? key;
      if (holder !== key) throw new Error(`${file}: ${name} is listed for "${holder}" and for "${key}"`);
      holders.set(name, key);
    }
  }
}

function parseSeedPrincipal(entry: unknown, where: string): SeedPrincipal {
  const { key, display_name, role, identifiers } = (entry ?? {}) as Record<string, unknown>;
  if (typeof key !== 'string' || key === '') throw new Error(`${where} needs a "key"`);
  const problem = identifierProblem('', key);
  if (problem !== null) throw new Error(`${where}: the key ${problem}`);
  if (typeof role !== 'string') throw new Error(`${where} needs a "role", such as known`);
  if (display_name !== undefined && typeof display_name !== 'string') throw new Error(`${where}: display_name is not a string`);
  if (!Array.isArray(identifiers) || !identifiers.every(isIdentifier)) {
    throw new Error(`${where} needs "identifiers": [{ "surface": …, "value": … }]`);
  }
  return { key, display_name, role, identifiers };
}

const isIdentifier = (entry: unknown): entry is { surface: string; value: string } => {
  const { surface, value } = (entry ?? {}) as Record<string, unknown>;
  return isSurface(surface) && typeof value === 'string' && identifierProblem(surface, value) === null;
};
