import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { signalIfThere } from '@svc/service-kit/process/signal-process.ts';
import type { Instance } from '@svc/contract/instance.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { createHostProcess } from '@svc/testing/host-process.ts';
import { waitFor } from '@svc/testing/house.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { openManagerDb } from '../../../apps/manager/src/db/open-manager-db.ts';
import { createInstanceStore } from '../../../apps/manager/src/instance/instance-store.ts';

export const killable = ['connections', 'connector', 'manager', 'core'] as const;
export type Killable = (typeof killable)[number];

/** Core and manager as separate processes, and one instance of a connector, named like its type. */
export type KillableService = {
  coreUrl: string;
  /** Kills it; our own processes are restarted. */
  kill(what: Killable): Promise<void>;
  /** Resolves when everything runs. */
  recover(): Promise<void>;
  /** The processes' output about fatal errors. */
  faults(): string;
  close(): Promise<void>;
};

export type KillableOptions = {
  dataDir: string;
  type: string;
  config: object;
  env: Record<string, string>;
  /** Cuts the connections of the platform. */
  cutConnections(): void;
};

export async function openKillableService({
  dataDir,
  type,
  config,
  env,
  cutConnections,
}: KillableOptions): Promise<KillableService> {
  const [corePort, managerPort, collector] = (await freePorts(3)) as [number, number, number];
  const ports = { core: corePort, manager: managerPort, collector };
  const core = createHostProcess('core', dataDir, ports, env);
  const manager = createHostProcess('manager', dataDir, ports, env);
  const managerUrl = `http://127.0.0.1:${managerPort}`;

  const look = async (): Promise<Instance | null> => {
    const [answer] = await Promise.allSettled([
      requestJson<{ instance?: Instance }>(`${managerUrl}/instances/${type}`, { timeoutMs: 5000 }),
    ]);
    return answer.status === 'fulfilled' ? (answer.value.body.instance ?? null) : null;
  };
  const act = (action: string, body?: object) =>
    requestJson<object>(`${managerUrl}/instances${action}`, { method: 'POST', body, timeoutMs: 30_000 });
  /** The manager gives up an instance that is killed this often; the test restarts it then. */
  const restartGivenUp = async () => {
    const state = await look();
    if (state?.status === 'failed' || state?.status === 'backoff') await act(`/${type}/restart`).catch(() => undefined);
    return state?.status === 'running' && state.healthy;
  };

  const service: KillableService = {
    coreUrl: `http://127.0.0.1:${corePort}`,
    async kill(what) {
      if (what === 'connections') return cutConnections();
      if (what === 'connector') {
        const state = await look();
        if (state?.pid != null) signalIfThere(state.pid, 'SIGKILL');
        return void restartGivenUp();
      }
      const host = what === 'core' ? core : manager;
      await host.end('SIGKILL');
      void host.start();
    },
    async recover() {
      const isUp = async () => (await restartGivenUp()) && (await isReady(service.coreUrl));
      await waitFor(isUp, 30_000, () => `the service is not up again: ${service.faults()}`);
    },
    faults: () => core.faults() + manager.faults(),
    async close() {
      await Promise.all([core.end('SIGKILL'), manager.end('SIGTERM')]);
    },
  };
  try {
    await open();
  } catch (error) {
    // Nothing else would stop the processes.
    await service.close();
    throw error;
  }
  return service;

  async function open(): Promise<void> {
    await forgoFirstInstance(dataDir);
    await Promise.all([core.start(), manager.start()]);
    // On a busy machine, loading the type may take a while.
    const make = () => act('', { type, name: type, enabled: true, config });
    let answer = await make();
    const isMade = async () => (answer = await make()).status < 300;
    if (answer.status >= 300)
      await waitFor(isMade, 30_000, () => `the instance cannot be made: ${JSON.stringify(answer.body)} ${service.faults()}`);
    await service.recover();
  }
}

/** No test asks the chat completions API of a first start, which each manager would start again. */
async function forgoFirstInstance(dataDir: string): Promise<void> {
  const db = openManagerDb(dataPaths(dataDir).managerDb, 'normal');
  await createInstanceStore(db).writeMeta('seeded', '0');
  await db.close();
}

async function isReady(url: string): Promise<boolean> {
  const [answer] = await Promise.allSettled([requestJson(`${url}/health`, { timeoutMs: 5000 })]);
  return answer.status === 'fulfilled' && answer.value.status === 200;
}
