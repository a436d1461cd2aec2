import { setTimeout as sleep } from 'node:timers/promises';
import type { HealthInfo, VersionInfo } from '@svc/contract/service.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';

/** A host process, and where it listens. */
export type Host = { name: string; url: string };

const askMs = 2000;
const pollMs = 50;

/** What is wrong. `away`: there is no answer. `said`: by the process of itself, which may be of its start. `other`: it is of another commit. */
export type Fault = { why: string; kind: 'away' | 'said' | 'other' };

/**
 * What is wrong with the host processes, as they say themselves; null when each is well and is of the commit. `wereUnwell`: those that were not well
 * before either, of which no more is asked than an answer.
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

/** Those that say of themselves that something does not work. */
export async function unwellOnes(hosts: readonly Host[]): Promise<Set<string>> {
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

type Patience = {
  withinMs: number;
  /** For so long a process may say that it is not well. */
  saidMs?: number;
  /** Ends the wait early, with the reason. */
  lost(): string | null;
};

/** A process is never of another commit later on; it may only be the one from before, which ends. */
const otherMs = 3000;

/** Asks again until nothing is wrong any more; else gives what was wrong last. */
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
