import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import type { TrustStore, NewRole } from './trust-store.ts';

const roles: NewRole[] = [
  { name: 'owner', tier: 'SACRED', tool_policy: 'full', surfaces: '*', description: 'Runs this installation.' },
  { name: 'trusted', tier: 'TRUSTED', tool_policy: 'full', surfaces: '*', description: 'May let the assistant act.' },
  { name: 'known', tier: 'KNOWN', tool_policy: 'read', surfaces: '*', description: 'May let the assistant look things up.' },
  { name: 'guest', tier: 'GUEST', tool_policy: 'none', surfaces: '*', description: 'May talk with the assistant.' },
];

/** One principal of a trust seed file. */
type SeedPrincipal = { key: string; display_name?: string; role: string; identifiers: { surface: string; value: string }[] };

/**
 * Gives a new installation its roles and its owner (the local user, in the shell and with the first API key), then
 * applies the operator's seed file when there is one. Repeating it changes nothing.
 * @throws when the seed file is there but cannot be used; nobody is let in until it is mended.
 */
export async function seedTrust(store: TrustStore, seedFile: string): Promise<void> {
  const isFirstStart = await store.isEmpty();
  for (const role of roles) await store.addRole(role);
  if (isFirstStart) await seedOwner(store);
  for (const principal of readSeedFile(seedFile)) await seedPrincipal(store, principal);
}

async function seedOwner(store: TrustStore): Promise<void> {
  const { username } = userInfo();
  await seedPrincipal(store, {
    key: 'owner',
    display_name: username,
    role: 'owner',
    identifiers: [
      { surface: 'shell', value: username },
      { surface: 'compat', value: 'owner' },
    ],
  });
}

async function seedPrincipal(store: TrustStore, { key, display_name, role, identifiers }: SeedPrincipal): Promise<void> {
  const id = await store.addPrincipal({ key, display_name: display_name ?? key });
  await store.addGrant(id, role);
  for (const { surface, value } of identifiers) await store.addIdentifier(id, surface, value);
}

function readSeedFile(file: string): SeedPrincipal[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  const seed: unknown = JSON.parse(text);
  const principals = (seed as { principals?: unknown }).principals;
  if (!Array.isArray(principals)) throw new Error(`${file} needs a list "principals"`);
  return principals.map((entry, index) => parseSeedPrincipal(entry, `${file}: principals[${index}]`));
}

function parseSeedPrincipal(entry: unknown, where: string): SeedPrincipal {
  const { key, display_name, role, identifiers } = (entry ?? {}) as Record<string, unknown>;
  if (typeof key !== 'string' || key === '') throw new Error(`${where} needs a "key"`);
  if (typeof role !== 'string') throw new Error(`${where} needs a "role", such as known`);
  if (display_name !== undefined && typeof display_name !== 'string') throw new Error(`${where}: display_name is no text`);
  if (!Array.isArray(identifiers) || !identifiers.every(isIdentifier)) {
    throw new Error(`${where} needs "identifiers": [{ "surface": …, "value": … }]`);
  }
  return { key, display_name, role, identifiers };
}

const isIdentifier = (entry: unknown): entry is { surface: string; value: string } => {
  const { surface, value } = (entry ?? {}) as Record<string, unknown>;
  return typeof surface === 'string' && surface !== '' && typeof value === 'string' && value !== '';
};
