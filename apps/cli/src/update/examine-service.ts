import { setTimeout as sleep } from 'node:timers/promises';
import type { HealthInfo, SupervisorState, VersionInfo } from '@svc/contract/service.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { isOptional } from '../service-urls.ts';

/** A host process, and where it listens. */
export type Host = { name: string; url: string };

const askMs = 2000;
const pollMs = 50;

/** A fault. `away`: there is no answer. `said`: reported by the process itself, perhaps about its start. `other`: it runs another commit. */
export type Fault = { why: string; kind: 'away' | 'said' | 'other' };

/**
 * The fault of the host processes by their own report; null when each is healthy and runs the commit. `wereUnwell`: those that were unhealthy
 * before, which only have to answer.
 */
export async function whyNotWell(hosts: readonly Host[], commit: string, wereUnwell: ReadonlySet<string>): Promise<Fault | null> {
  const faults = await Promise.all(hosts.map(async (host) => faultOf(host, commit, wereUnwell.has(host.name))));
  return faults.find((fault) => fault !== null) ?? null;
}

async function faultOf({ name, url }: Host, commit: string, wasUnwell: boolean): Promise<Fault | null> {
  try {
    const [health, version] = await Promise.all([
      requestJson<HealthInfo>(`${url}/health`, { timeoutMs: askMs }),
      requestJson<VersionInfo>(`${url}/version`, { timeoutMs: askMs }),
    ]);
    const { sha } = version.body;
    if (sha !== commit) return { why: `the ${name} runs commit ${sha.slice(0, 12)}, not ${commit.slice(0, 12)}`, kind: 'other' };
    if (health.body.status === 'ok' || (wasUnwell && health.body.status === 'degraded')) return null;
    return {
      why: `the ${name} is ${health.body.status}: ${(health.body.degraded ?? []).join('; ') || 'it does not say why'}`,
      kind: 'said',
    };
  } catch (error) {
    return { why: `the ${name} does not answer (${(error as Error).message})`, kind: 'away' };
  }
}

/** The processes that report a fault of their own. */
export async function unhealthyHosts(hosts: readonly Host[]): Promise<Set<string>> {
  const answers = await Promise.all(
    hosts.map(async ({ name, url }) => {
      try {
        const { body } = await requestJson<HealthInfo>(`${url}/health`, { timeoutMs: askMs });
        return body.status === 'ok' ? [] : [name];
      } catch {
        return [name]; // it is away
      }
    }),
  );
  return new Set(answers.flat());
}

/** Why a host process will not start later either: it failed twice in a row, or is not started again. Null when there is none. */
export function restartFault(state: SupervisorState | null): string | null {
  const found = state?.services.find(({ name, failures, status }) => (failures > 1 || status === 'failed') && !isOptional(name));
  return found === undefined ? null : `the ${found.name} ${found.last_exit?.reason ?? 'ends again and again'}`;
}

type Patience = {
  withinMs: number;
  /** How long a process may report a fault. */
  saidMs?: number;
  /** Ends the wait early, with the reason. */
  lost(): string | null;
};

/** A process does not change its commit; it may only be the previous one, which is ending. */
const otherMs = 3000;

/** Polls until there is no fault; otherwise returns the last one. */
export async function awaitWell(
  examine: () => Promise<Fault | null>,
  { withinMs, saidMs = 15_000, lost }: Patience,
): Promise<string | null> {
  const until = performance.now() + withinMs;
  const patience = { away: withinMs, said: saidMs, other: otherMs };
  let since = { kind: 'away' as Fault['kind'], at: performance.now() };
  for (;;) {
    const fault = await examine();
    if (fault === null) return null;
    const why = lost();
    if (why !== null) return why;
    const now = performance.now();
    if (fault.kind !== since.kind) since = { kind: fault.kind, at: now };
    if (now > until || now - since.at > patience[fault.kind]) return fault.why;
    await sleep(pollMs);
  }
}
