import type { InstanceConfig } from '@svc/contract/instance.ts';
import type { InstanceSupervisor } from '../src/supervisor/instance-supervisor.ts';
import { notRunning } from '../src/supervisor/runtime-status.ts';

export type FakeSupervisor = InstanceSupervisor & { readonly running: Map<string, InstanceConfig>; readonly calls: string[] };

/** Instances that run as soon as they are asked to. */
export function createFakeSupervisor(): FakeSupervisor {
  const running = new Map<string, InstanceConfig>();
  const calls: string[] = [];
  const run = (verb: string) => async (instance: InstanceConfig) => {
    calls.push(`${verb} ${instance.id}`);
    running.set(instance.id, instance);
  };
  const end = (verb: string) => async (id: string) => {
    calls.push(`${verb} ${id}`);
    running.delete(id);
  };
  return {
    running,
    calls,
    start: run('start'),
    restart: run('restart'),
    stop: end('stop'),
    remove: end('remove'),
    statusOf: (id) => (running.has(id) ? { ...notRunning, status: 'running', pid: 4711, healthy: true } : notRunning),
    logs: (id) => [{ at: 1, stream: 'stdout', text: `log of ${id}` }],
    endpointOf: () => null,
    aliveRunOf: (id) => (running.has(id) ? 'a run' : null),
    mask: (text) => text,
    faults: () => [],
    down: () => [],
    onAlive: () => undefined,
    reap: async () => void calls.push('reap'),
    stopAll: async () => running.clear(),
  };
}
