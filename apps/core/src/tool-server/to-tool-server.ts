import type { Tier } from '@svc/contract/trust.ts';
import type { ToolServerEntry } from '@svc/contract/tool-server.ts';
import type { ToolServer } from '@svc/engine-kit/engine.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { errorText, ServiceError } from '@svc/service-kit/service-error.ts';
import type { Secrets } from '../secret/secrets.ts';
import { fillSecrets, secretNames } from './secret-references.ts';

/** An entry in the form that engines take, or why it cannot be started. `isPersonal`: the problem concerns only this person's turns. */
export type Launch = { server: ToolServer } | { problem: string; isPersonal: boolean };

/**
 * Converts an entry to the form that engines take, for a turn of a person of this tier, who cannot use secrets that require more trust.
 * Results are cached for a while, so that turns seldom wait.
 */
export type Launcher = (tier: Tier) => Promise<Launch> | Launch;

type Deps = { secrets: Pick<Secrets, 'resolve'>; clock: Clock };

/** Cache lifetimes in ms: a rotated secret takes effect after the first, one added where it was missing after the second. */
const lifeMs = { good: 30_000, bad: 2000 };

const valuesOf = (entry: ToolServerEntry): Record<string, string> => (entry.type === 'stdio' ? entry.env : (entry.headers ?? {}));

export function createLauncher(name: string, entry: ToolServerEntry, { secrets, clock }: Deps): Launcher {
  const names = new Set(Object.values(valuesOf(entry)).flatMap(secretNames));
  const plain: Launch = { server: toToolServer(name, entry, new Map()) };
  if (names.size === 0) return () => plain;
  const known = new Map<Tier, { until: number; launch: Promise<Launch> }>();

  const look = async (tier: Tier): Promise<Launch> => {
    const looked = await Promise.allSettled(
      Array.from(names, async (secret) => [secret, (await secrets.resolve(secret, tier)).reveal()] as const),
    );
    const faults = looked.flatMap((one) => (one.status === 'rejected' ? [toProblem(one.reason)] : []));
    // Faults that concern everyone are reported first.
    const fault = faults.find(({ isPersonal }) => !isPersonal) ?? faults[0];
    if (fault !== undefined) return fault;
    const values = looked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    return { server: toToolServer(name, entry, new Map(values)) };
  };

  return async (tier) => {
    const last = known.get(tier);
    if (last !== undefined && clock.elapsed() < last.until) return last.launch;
    const current = { until: clock.elapsed() + lifeMs.good, launch: look(tier) };
    known.set(tier, current);
    const launch = await current.launch;
    if ('problem' in launch) current.until = clock.elapsed() + lifeMs.bad;
    return launch;
  };
}

const toProblem = (error: unknown) => ({
  problem: errorText(error).replace(/\.$/, ''),
  isPersonal: error instanceof ServiceError && error.code === 'forbidden',
});

function toToolServer(name: string, entry: ToolServerEntry, secrets: ReadonlyMap<string, string>): ToolServer {
  const values = Object.fromEntries(
    Object.entries(valuesOf(entry)).map(([key, value]) => [key, fillSecrets(value, (secret) => secrets.get(secret) ?? '')]),
  );
  const { safe } = entry;
  return entry.type === 'stdio'
    ? { name, type: 'stdio', command: entry.command, args: entry.args, env: values, safe }
    : { name, type: 'http', url: entry.url, headers: values, safe };
}
