import path from 'node:path';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { pickEnv, crashLimit, leanNode, type ChildState } from '@svc/supervisor/child-spec.ts';
import { createSupervisedChild } from '@svc/supervisor/supervised-child.ts';

export type ToolbeltProcessDeps = {
  /** The repository's root. */
  root: string;
  env: Readonly<Record<string, string | undefined>>;
  coreUrl: string;
  version: string;
  /** The longest time that a call of a device's tool takes, ms. */
  deviceCallMs: number;
  clock: Clock;
  log: Pick<Log, 'info' | 'warn'>;
  /** True while it must not be stopped. */
  isInUse: () => boolean;
  /** The process was stopped because nobody used it: another process may take its port now. */
  onIdleStop: () => void;
  /** Replaces the real program in tests. */
  entry?: string;
};

const idleMs = 10 * 60_000;
/** How often a turn tries again after the process was given up. */
const retryMs = 30_000;

/**
 * The process that speaks MCP, so that the core does not have to load it. It is started for the first turn that needs it, restarted when it
 * dies, and stopped when it was not needed for ten minutes. It ends with the core, however the core ends.
 */
export type ToolbeltProcess = {
  /** Its address, once it listens. The caller limits the wait. @throws when it cannot be started. */
  url(): Promise<string>;
  /** For tests and for monitoring. */
  state(): ChildState;
  close(): Promise<void>;
};

export function createToolbeltProcess(deps: ToolbeltProcessDeps): ToolbeltProcess {
  const { clock, log } = deps;
  let port = 0;
  let lastUse = 0;
  let failedAt = Number.NEGATIVE_INFINITY;
  let waiting: PromiseWithResolvers<string> | null = null;
  let stopping: Promise<void> | null = null;
  let closed = false;
  let cancelIdle = () => undefined as void;

  const child = createSupervisedChild(
    {
      name: 'toolbelt',
      entry: deps.entry ?? path.join(deps.root, 'apps/toolbelt/src/main.ts'),
      execArgv: leanNode,
      env: pickEnv(deps.env),
      greeting: () => {
        const { coreUrl, version, deviceCallMs } = deps;
        return { type: 'start', coreUrl, version, deviceCallMs, port };
      },
      startTimeoutMs: 15_000,
      stopTimeoutMs: 1000,
      giveUp: () => crashLimit,
    },
    { clock, onState, onLog: ({ text }) => log.warn({ toolbelt: text.slice(0, 1000) }, 'output of the toolbelt') },
  );

  function onState({ status, ready, lastExit }: ChildState): void {
    if (status === 'running' && ready !== null) {
      port = Number(ready['port']);
      waiting?.resolve(urlOf(port));
      waiting = null;
    } else if (status === 'failed') {
      failedAt = clock.elapsed();
      log.warn({ why: lastExit?.reason }, 'the toolbelt keeps failing');
      waiting?.reject(new Error(`its process ${lastExit?.reason ?? 'does not start'}`));
      waiting = null;
    }
  }

  const looksAfter = () => {
    cancelIdle = clock.after(idleMs, () => {
      if (deps.isInUse() || clock.elapsed() - lastUse < idleMs) looksAfter();
      else stopIdle();
    });
  };
  const stopIdle = () => {
    stopping = child.stop().finally(() => (stopping = null));
    port = 0;
    deps.onIdleStop();
    log.info({}, 'the toolbelt was stopped, because it is not used');
  };

  const start = () => {
    cancelIdle();
    looksAfter();
    void child.start();
  };

  return {
    async url(): Promise<string> {
      lastUse = clock.elapsed();
      if (stopping !== null) await stopping;
      if (closed) throw new Error('the service is stopping');
      const { status, lastExit } = child.state;
      if (status === 'running') return urlOf(port);
      if (status === 'failed' && clock.elapsed() - failedAt < retryMs) {
        throw new Error(`its process ${lastExit?.reason ?? 'does not start'}`);
      }
      waiting ??= Promise.withResolvers();
      const ready = waiting.promise;
      ready.catch(() => undefined); // the turn that waited may have continued without it
      if (status === 'stopped' || status === 'failed') start();
      return ready;
    },

    state: (): ChildState => child.state,

    async close(): Promise<void> {
      closed = true;
      cancelIdle();
      waiting?.reject(new Error('the service is stopping'));
      waiting = null;
      await child.stop();
    },
  };
}

const urlOf = (port: number): string => `http://127.0.0.1:${port}/mcp`;
