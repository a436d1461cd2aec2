import { readFile } from 'node:fs/promises';
import type { Instance } from '@svc/contract/instance.ts';
import type { SupervisorState } from '@svc/contract/service.ts';
import type { ProcessSample } from '@svc/contract/insights.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import type { Secret } from '@svc/service-kit/secret.ts';

export type OurProcess = Pick<ProcessSample, 'name' | 'kind' | 'pid'>;

/** The processes of the service, as far as they can be listed. Never rejects. */
export type ProcessLister = () => Promise<OurProcess[]>;

type Options = { stateFile: string; managerUrl: string; managerToken: Secret | null };

const timeoutMs = 3000;

/** Lists the host processes from the supervisor's state file, and the connector instances from the manager. */
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

/** The state of the supervisor that started this process; null if there is none. */
export async function readSupervisor(file: string): Promise<SupervisorState | null> {
  try {
    const state = JSON.parse(await readFile(file, 'utf8')) as SupervisorState;
    return Number.isInteger(state.pid) && Array.isArray(state.services) ? state : null;
  } catch {
    return null; // not started by a supervisor, or the file is being written
  }
}

async function askManager(url: string, token: Secret | null): Promise<OurProcess[]> {
  try {
    const { status, body } = await requestJson<{ instances: Instance[] }>(`${url}/instances`, { token, timeoutMs });
    if (status !== 200) return [];
    return body.instances.flatMap(({ id, pid }): OurProcess[] => (pid === null ? [] : [{ name: id, kind: 'instance', pid }]));
  } catch {
    return []; // the manager does not answer, so its instances are unknown
  }
}
