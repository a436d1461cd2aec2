import { readFile } from 'node:fs/promises';
import type { Instance } from '@svc/contract/instance.ts';
import type { SupervisorState } from '@svc/contract/service.ts';
import type { ProcessSample } from '@svc/contract/insights.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import type { Secret } from '@svc/service-kit/secret.ts';

export type OurProcess = Pick<ProcessSample, 'name' | 'kind' | 'pid'>;

/** What runs as part of the service; what cannot be asked is left out. Never rejects. */
export type ProcessLister = () => Promise<OurProcess[]>;

type Options = { stateFile: string; managerUrl: string; managerToken: Secret | null };

const timeoutMs = 3000;

/** The host processes by the supervisor's state file, the connector instances by the manager. */
export function createProcessLister({ stateFile, managerUrl, managerToken }: Options): ProcessLister {
  const own: OurProcess = { name: 'collector', kind: 'host', pid: process.pid };
  return async () => {
    const state = await readSupervisor(stateFile);
    if (state === null) return [own];
    const hosts = state.services.flatMap(({ name, pid }): OurProcess[] => (pid === null ? [] : [{ name, kind: 'host', pid }]));
    const hasManager = hosts.some(({ name }) => name === 'manager');
    const instances = hasManager ? await askManager(managerUrl, managerToken) : [];
    const supervisor: OurProcess = { name: 'supervisor', kind: 'supervisor', pid: state.pid };
    return [supervisor, ...hosts, ...instances];
  };
}

/** The state of the supervisor that started this process; null when nobody did. */
export async function readSupervisor(file: string): Promise<SupervisorState | null> {
  try {
    const state = JSON.parse(await readFile(file, 'utf8')) as SupervisorState;
    return Number.isInteger(state.pid) && Array.isArray(state.services) ? state : null;
  } catch {
    return null; // started by itself, or the file is being made
  }
}

async function askManager(url: string, token: Secret | null): Promise<OurProcess[]> {
  try {
    const { status, body } = await requestJson<{ instances: Instance[] }>(`${url}/instances`, { token, timeoutMs });
    if (status !== 200) return [];
    return body.instances.flatMap(({ id, pid }): OurProcess[] => (pid === null ? [] : [{ name: id, kind: 'instance', pid }]));
  } catch {
    return []; // it is away, and its instances with it
  }
}
