import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Instance } from '@svc/contract/instance.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { Settings } from '@svc/service-kit/config/settings.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { badRequest, conflict, errorText, notFound } from '@svc/service-kit/service-error.ts';
import type { LogLine } from '@svc/supervisor/child-spec.ts';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { ConnectorTypes } from '../connector-type/connector-types.ts';
import type { InstanceSupervisor } from '../supervisor/instance-supervisor.ts';
import { createOrder } from './in-order.ts';
import type { CreateInstance, UpdateInstance } from './instance-schema.ts';
import type { InstanceRows, InstanceStore, StoredInstance } from './instance-store.ts';
import { findPortClash } from './port-clash.ts';

type Deps = {
  settings: Settings;
  paths: Pick<DataPaths, 'instances'>;
  clock: Clock;
  log: Log;
  store: InstanceStore;
  types: ConnectorTypes;
  supervisor: InstanceSupervisor;
  /** An instance is deleted, and with it what was to be sent through it. */
  forgetOutbound(id: string): Promise<void>;
};

/** How long an answer waits for a start to turn out; past it the instance is reported as starting. */
const patienceMs = 5000;

export type InstanceService = ReturnType<typeof createInstanceService>;

/** The rules of connector instances. Each change is stored first, then told to the supervisor, in one order for all. */
export function createInstanceService(deps: Deps) {
  const { settings, paths, clock, log, store, types, supervisor, forgetOutbound } = deps;
  const inOrder = createOrder();
  const toInstance = (stored: StoredInstance): Instance => ({ ...stored, ...supervisor.statusOf(stored.id) });

  const metaOf = (type: string): ConnectorMeta => {
    const meta = types.find(type)?.meta;
    if (meta !== undefined) return meta;
    const known = types
      .list()
      .map((each) => each.meta.type)
      .join(', ');
    throw badRequest(`There is no connector type "${type.slice(0, 64)}". Known types: ${known || 'none'}.`, {
      fields: [{ field: 'type', problem: 'is unknown' }],
    });
  };
  const stored = async (from: InstanceRows, id: string): Promise<StoredInstance> => {
    const instance = await from.read(id);
    if (instance === null) throw notFound('instance', id);
    return instance;
  };
  const checkPorts = async (from: InstanceRows, candidate: StoredInstance): Promise<void> => {
    const clash = candidate.enabled ? findPortClash(candidate, await from.list(), settings) : null;
    if (clash !== null) throw conflict(clash);
  };
  /** Waits for what was set going, within bounds, and tells how the instance stands then. */
  const answer = async (id: string, going: Promise<unknown>): Promise<Instance> => {
    await Promise.race([going, new Promise<void>((resolve) => clock.after(patienceMs, resolve))]);
    return toInstance(await stored(store, id));
  };
  const change = (id: string, edit: (before: StoredInstance) => StoredInstance): Promise<StoredInstance> =>
    store.transaction(async (inside) => {
      const after = { ...edit(await stored(inside, id)), updated_at: clock.now() };
      await checkPorts(inside, after);
      await inside.update(after);
      return after;
    });

  return {
    async list(): Promise<Instance[]> {
      return (await store.list()).map(toInstance);
    },

    async get(id: string): Promise<{ instance: Instance; logs: LogLine[] }> {
      return { instance: toInstance(await stored(store, id)), logs: supervisor.logs(id) };
    },

    async create({ type, name, config = {}, enabled = false }: CreateInstance): Promise<Instance> {
      await types.refresh();
      const meta = metaOf(type);
      const filled = types.validate(meta, config);
      const { id, going } = await inOrder(async () => {
        const instance = await store.transaction(async (inside) => {
          if (!meta.supportsMultiple && (await inside.list()).some((other) => other.type === type)) {
            throw conflict(`${meta.displayName} allows one instance, and there is one already. Change that one.`);
          }
          const now = clock.now();
          const created = {
            id: await inside.nextId(type),
            type,
            name,
            enabled,
            config: filled,
            created_at: now,
            updated_at: now,
          };
          await checkPorts(inside, created);
          await inside.create(created);
          return created;
        });
        return { id: instance.id, going: enabled ? supervisor.start(instance) : Promise.resolve() };
      });
      return answer(id, going);
    },

    /** A running instance restarts, so that what runs is what is stored. */
    async update(id: string, patch: UpdateInstance): Promise<Instance> {
      await types.refresh();
      const going = await inOrder(async () => {
        const after = await change(id, (before) => ({
          ...before,
          ...patch,
          config: patch.config === undefined ? before.config : types.validate(metaOf(before.type), patch.config),
        }));
        return { done: after.enabled ? supervisor.restart(after) : supervisor.stop(id) };
      });
      return answer(id, going.done);
    },

    async remove(id: string): Promise<void> {
      const gone = await inOrder(async () => {
        await stored(store, id);
        await store.delete(id);
        await forgetOutbound(id);
        return { done: supervisor.remove(id) };
      });
      await gone.done;
      await rm(path.join(paths.instances, id), { recursive: true, force: true });
    },

    async start(id: string): Promise<Instance> {
      await types.refresh();
      const going = await inOrder(async () => ({
        done: supervisor.start(await change(id, (before) => ({ ...before, enabled: true }))),
      }));
      return answer(id, going.done);
    },

    async stop(id: string): Promise<Instance> {
      const gone = await inOrder(async () => {
        await change(id, (before) => ({ ...before, enabled: false }));
        return { done: supervisor.stop(id) };
      });
      await gone.done;
      return toInstance(await stored(store, id));
    },

    async restart(id: string): Promise<Instance> {
      await types.refresh();
      const going = await inOrder(async () => {
        const instance = await stored(store, id);
        if (!instance.enabled) throw conflict(`The instance "${id}" is stopped. Start it with POST /instances/${id}/start.`);
        return { done: supervisor.restart(instance) };
      });
      return answer(id, going.done);
    },

    /** Brings up everything that is enabled, after what an earlier manager left has been ended. Never rejects. */
    async startEnabled(): Promise<void> {
      try {
        await inOrder(async () => {
          await supervisor.reap();
          for (const instance of await store.list()) if (instance.enabled) void supervisor.start(instance);
        });
      } catch (error) {
        log.error({ err: error }, `the instances could not be started: ${errorText(error)}`);
      }
    },
  };
}
