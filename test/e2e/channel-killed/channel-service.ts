import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Instance } from '@svc/contract/instance.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { signalProcess } from '@svc/service-kit/process/signal-process.ts';
import {
  startChatPlatform,
  type ChatPlatform,
  type ChatPlatformOptions,
} from '@svc/testing/chat-platform/start-chat-platform.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { createHostProcess } from '@svc/testing/host-process.ts';
import { waitFor } from '@svc/testing/house.ts';
import { installChatConnector } from '@svc/testing/install-chat-connector.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { scriptText } from './engine-script.ts';
import { people } from './people.ts';

export const killable = ['connections', 'connector', 'manager', 'core'] as const;
export type Killable = (typeof killable)[number];

/** Core and manager in processes of their own, and one instance of the connector for the chat platform. */
export type ChannelService = {
  platform: ChatPlatform;
  coreUrl: string;
  keyOf(chat: string): string;
  /** Ends it at once; what is ours is started again. */
  kill(what: Killable): Promise<void>;
  /** Resolves when all of it runs. */
  recover(): Promise<void>;
  /** What processes said of faults that end a process. */
  faults(): string;
  close(): Promise<void>;
};

const instance = 'platform';

export async function openChannelService(options: ChatPlatformOptions): Promise<ChannelService> {
  const folder = temporaryFolder();
  const platform = await startChatPlatform(options);
  for (const chat of Object.keys(people)) if (chat.startsWith('room')) platform.openGroup(chat, chat);
  writeDataFolder(folder.path);
  const own = installChatConnector(folder.path, platform);
  const [corePort, managerPort, collector] = (await freePorts(3)) as [number, number, number];
  const ports = { core: corePort, manager: managerPort, collector };
  const env = { SVC_OFFLINE_SCRIPT: path.join(folder.path, 'script.mjs'), SVC_COMPAT_PORT: '0' };
  const core = createHostProcess('core', folder.path, ports, env);
  const manager = createHostProcess('manager', folder.path, ports, env);
  const managerUrl = `http://127.0.0.1:${managerPort}`;

  const look = async (): Promise<Instance | null> => {
    const [answer] = await Promise.allSettled([
      requestJson<{ instance?: Instance }>(`${managerUrl}/instances/${instance}`, { timeoutMs: 5000 }),
    ]);
    return answer.status === 'fulfilled' ? (answer.value.body.instance ?? null) : null;
  };
  const act = (action: string, body?: object) =>
    requestJson<object>(`${managerUrl}/instances${action}`, { method: 'POST', body, timeoutMs: 30_000 });
  /** Who kills one that often is not done with it when the manager gives it up. */
  const restartGivenUp = async () => {
    const state = await look();
    if (state?.status === 'failed' || state?.status === 'backoff') await act(`/${instance}/restart`).catch(() => undefined);
    return state?.status === 'running' && state.healthy;
  };

  const service: ChannelService = {
    platform,
    coreUrl: `http://127.0.0.1:${corePort}`,
    keyOf: (chat) => (chat.startsWith('room') ? `platform:${instance}:channel:${chat}` : `platform:${instance}:user:${chat}`),
    async kill(what) {
      if (what === 'connections') return platform.cutConnections();
      if (what === 'connector') {
        const state = await look();
        if (state?.pid != null) signalProcess(state.pid, 'SIGKILL');
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
      await platform.close();
      folder.remove();
    },
  };
  try {
    await open();
  } catch (error) {
    // Nothing else would end them.
    await service.close();
    throw error;
  }
  return service;

  async function open(): Promise<void> {
    await Promise.all([core.start(), manager.start()]);
    const config = { ...own, edit_ms: 100, finds_nonces: platform.rules.findsNonces };
    // A busy machine may take its time to read the type.
    const make = () => act('', { type: instance, name: 'Platform', enabled: true, config });
    const isMade = async () => (await make()).status < 300;
    await waitFor(isMade, 30_000, () => `the instance cannot be made: ${service.faults()}`);
    await service.recover();
  }
}

async function isReady(url: string): Promise<boolean> {
  const [answer] = await Promise.allSettled([requestJson(`${url}/health`, { timeoutMs: 5000 })]);
  return answer.status === 'fulfilled' && answer.value.status === 200;
}

function writeDataFolder(dir: string): void {
  writeFileSync(path.join(dir, 'script.mjs'), scriptText);
  const names = [...new Set(Object.values(people).flat())];
  const principals = names.map((key) => ({ key, role: 'trusted', identifiers: [{ surface: 'platform', value: key }] }));
  writeFileSync(path.join(dir, 'trust.seed.json'), JSON.stringify({ principals }));
}
