import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineView } from '@svc/contract/engine.ts';
import type { Instance } from '@svc/contract/instance.ts';
import type { Principal } from '@svc/contract/trust.ts';
import type { EngineChoice, HealthInfo } from '@svc/contract/service.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import type { Secret } from '@svc/service-kit/secret.ts';
import type { BannerEngine, BannerInstance, BannerOwner } from './banner.ts';

type Manager = { url: string; token: Secret | null };

const pollMs = 50;

/** The enabled instances, once each has started or failed; their current state after `waitMs`. */
export async function awaitInstances(manager: Manager, waitMs: number): Promise<Instance[]> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const instances = await listInstances(manager, Math.max(100, Math.ceil(deadline - performance.now())));
    const wanted = instances.filter(({ enabled }) => enabled);
    if (wanted.every(({ status }) => status !== 'starting' && status !== 'stopped') || performance.now() > deadline)
      return wanted;
    await sleep(pollMs);
  }
}

/** Empty when the manager does not answer. */
export async function listInstances({ url, token }: Manager, timeoutMs: number): Promise<Instance[]> {
  const body = await answer<{ instances?: Instance[] } | Instance[]>(`${url}/instances`, timeoutMs, token);
  return Array.isArray(body) ? body : (body?.instances ?? []);
}

/** The engine in use; null when the core does not answer in time. */
export async function currentEngine(coreUrl: string, timeoutMs: number): Promise<BannerEngine | null> {
  const found = await answer<{ current?: EngineChoice; engines?: EngineView[] }>(`${coreUrl}/v2/engines`, timeoutMs);
  if (found?.current === undefined) return null;
  const { current, engines = [] } = found;
  const view = engines.find(({ id }) => id === current.id);
  return { ...current, fault: view?.ready === false ? view.reason : null };
}

/** The owner that a first start makes; null when the core does not answer in time, or another person was seeded. */
export async function seededOwner(coreUrl: string, timeoutMs: number): Promise<BannerOwner | null> {
  const found = await answer<Principal>(`${coreUrl}/trust/principals/owner`, timeoutMs);
  if (found === null) return null;
  const shell = found.identifiers.find(({ surface }) => surface === 'shell');
  return { key: found.key, name: found.display_name, shellUser: shell?.value ?? null };
}

/** The faults and notices of a process; empty when it does not answer in time. */
export async function currentHealth(url: string, timeoutMs: number): Promise<{ faults: string[]; notices: string[] }> {
  const { degraded = [], notices = [] } = (await answer<HealthInfo>(`${url}/health`, timeoutMs)) ?? {};
  return { faults: degraded, notices };
}

async function answer<T>(url: string, timeoutMs: number, token: Secret | null = null): Promise<T | null> {
  try {
    const { status, body } = await requestJson<T>(url, { timeoutMs, token });
    return status === 200 ? body : null;
  } catch {
    return null; // not up, or too slow: shown as unknown
  }
}

/** The key files that exist now. A key is shown only by the start that created it. */
export function listKeyFiles(instancesDir: string): Set<string> {
  if (!existsSync(instancesDir)) return new Set();
  const files = readdirSync(instancesDir).map((id) => path.join(instancesDir, id, 'keys.json'));
  return new Set(files.filter((file) => existsSync(file)));
}

/** The line of an instance in the banner. */
export async function toBannerInstance(
  instance: Instance,
  instancesDir: string,
  oldKeyFiles: ReadonlySet<string>,
): Promise<BannerInstance> {
  const { id, name, type, status, url, config } = instance;
  const file = path.resolve(instancesDir, id, typeof config['keys_file'] === 'string' ? config['keys_file'] : 'keys.json');
  const keysFile = type === 'compat' && existsSync(file) ? file : null;
  return {
    name,
    type,
    status,
    url,
    reason: status === 'running' ? null : await whyNot(instance),
    newKey: keysFile === null || oldKeyFiles.has(keysFile) ? null : firstKey(keysFile),
    keysFile,
  };
}

async function whyNot({ reason, config }: Instance): Promise<string | null> {
  const port = config['port'];
  const { describeOwner, findPortOwner } = await import('@svc/supervisor/port-owner.ts');
  const owner = typeof port === 'number' && reason?.includes('in use') === true ? await findPortOwner(port) : null;
  return owner === null ? reason : `port ${String(port)} is used by ${describeOwner(owner)}`;
}

function firstKey(file: string): string | null {
  try {
    const { keys } = JSON.parse(readFileSync(file, 'utf8')) as { keys?: { key?: unknown }[] };
    const key = keys?.[0]?.key;
    return typeof key === 'string' ? key : null;
  } catch {
    return null; // the file itself is named; `svc doctor` looks closer
  }
}
