import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Instance } from '@svc/contract/instance.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { ManagerSettings } from '@svc/service-kit/config/process-settings.ts';
import { createLane, type Lane } from '@svc/service-kit/lane.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { badRequest, conflict, errorText, notFound } from '@svc/service-kit/service-error.ts';
import { within } from '@svc/service-kit/within.ts';
import type { LogLine } from '@svc/supervisor/child-spec.ts';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { ConnectorTypes } from '../connector-type/connector-types.ts';
import type { InstanceSupervisor } from '../supervisor/instance-supervisor.ts';
import { checkSecretNames } from './check-secret-names.ts';
import type { CreateInstance, UpdateInstance } from './instance-schema.ts';
import type { InstanceRulesWriter } from './instance-rules.ts';
import type { InstanceRows, InstanceStore, StoredInstance } from './instance-store.ts';
import { findPortClash } from './port-clash.ts';
import { replaceConfig } from './replace-config.ts';
import { readWorth } from './read-worth.ts';
import { startInLine } from './start-line.ts';
import { inOrderOfWorth } from './start-order.ts';

type Deps = {
  settings: ManagerSettings;
  paths: Pick<DataPaths, 'instances' | 'instanceWorth'>;
  clock: Clock;
  log: Log;
  store: InstanceStore;
  types: ConnectorTypes;
  supervisor: InstanceSupervisor;
  rules: InstanceRulesWriter;
  /** Deletes the messages that were to be sent through a deleted instance. */
  forgetOutbound(id: string): Promise<void>;
};

/** How long a response waits for the outcome of a start; after that the instance is reported as starting. */
const patienceMs = 5000;

/** The rules of connector instances. Each change is stored, then passed to the supervisor; changes are made one after the other. */
export type InstanceService = {
  list(): Promise<Instance[]>;
  /** Throws `not_found`, as all below do for an unknown id. */
  get(id: string): Promise<{ instance: Instance; logs: LogLine[] }>;
  /** Throws `bad_request` for an unknown type or a config that does not fit, `conflict` for a port or a type that is taken. */
  create(request: CreateInstance): Promise<Instance>;
  /** A running instance is restarted with the stored config. Throws `bad_request` for a config that would lose settings. */
  update(id: string, patch: UpdateInstance): Promise<Instance>;
  /** Also deletes its folder and the messages that were to be sent through it. */
  remove(id: string): Promise<void>;
  start(id: string): Promise<Instance>;
  stop(id: string): Promise<Instance>;
  /** Throws `conflict` for one that is stopped. */
  restart(id: string): Promise<Instance>;
  /** Starts everything that is enabled, the most important first, after ending what an earlier manager left behind. Never rejects. */
  startEnabled(): Promise<void>;
};

type Service = Deps & { inOrder: Lane };

export function createInstanceService(deps: Deps): InstanceService {
  const { store, types, supervisor, log } = deps;
  const service: Service = { ...deps, inOrder: createLane(1) };
  const { inOrder } = service;

  return {
    list: async () => (await store.list()).map((stored) => withStatus(service, stored)),
    get: async (id) => ({ instance: withStatus(service, await readStored(store, id)), logs: supervisor.logs(id) }),
    create: (request) => createInstance(service, request),
    update: (id, patch) => updateInstance(service, id, patch),
    remove: (id) => removeInstance(service, id),
    async start(id) {
      await types.refresh();
      const going = await inOrder(async () => {
        const instance = await change(service, id, (before) => ({ ...before, enabled: true }));
        await publishRules(service);
        return { done: supervisor.start(instance) };
      });
      return settled(service, id, going.done);
    },
    async stop(id) {
      const gone = await inOrder(async () => {
        await change(service, id, (before) => ({ ...before, enabled: false }));
        return { done: supervisor.stop(id) };
      });
      await gone.done;
      return withStatus(service, await readStored(store, id));
    },
    async restart(id) {
      await types.refresh();
      const going = await inOrder(async () => {
        const instance = await readStored(store, id);
        await publishRules(service);
        if (!instance.enabled) throw conflict(`The instance "${id}" is stopped. Start it with POST /instances/${id}/start.`);
        return { done: supervisor.restart(instance) };
      });
      return settled(service, id, going.done);
    },
    async startEnabled() {
      try {
        await inOrder(async () => {
          await supervisor.reap();
          await publishRules(service);
        });
        await startInLine(await enabledOnes(service), ({ id }) => startIfStill(service, id), service);
      } catch (error) {
        log.error({ err: error }, `the instances could not be started: ${errorText(error)}`);
      }
    },
  };
}

const enabledOnes = async ({ store, paths }: Service): Promise<StoredInstance[]> =>
  inOrderOfWorth(
    (await store.list()).filter(({ enabled }) => enabled),
    readWorth(paths.instanceWorth),
  );

/** Before its turn comes, an instance may have been changed, stopped, or started. */
const startIfStill = ({ store, supervisor, inOrder }: Service, id: string): Promise<{ done: Promise<void> }> =>
  inOrder(async () => {
    const instance = await store.read(id);
    const isDue = instance?.enabled === true && supervisor.statusOf(id).status === 'stopped';
    return { done: isDue ? supervisor.start(instance) : Promise.resolve() };
  });

async function createInstance(service: Service, request: CreateInstance): Promise<Instance> {
  const { types, rules, supervisor, inOrder } = service;
  const { type, name, config = {}, enabled = false } = request;
  await types.refresh();
  const meta = metaOf(types, type);
  const filled = types.validate(meta, config);
  checkSecretNames(meta, filled);
  await rules.check(meta, filled);
  const { id, going } = await inOrder(async () => {
    const instance = await storeNew(service, meta, { name, enabled, config: filled });
    await publishRules(service);
    return { id: instance.id, going: enabled ? supervisor.start(instance) : Promise.resolve() };
  });
  return settled(service, id, going);
}

const storeNew = (
  service: Service,
  { type, displayName, supportsMultiple }: ConnectorMeta,
  fields: Pick<StoredInstance, 'name' | 'enabled' | 'config'>,
): Promise<StoredInstance> =>
  service.store.transaction(async (inside) => {
    if (!supportsMultiple && (await inside.list()).some((other) => other.type === type)) {
      throw conflict(`${displayName} allows only one instance, and there is one already. Change that one.`);
    }
    const now = service.clock.now();
    const created = { id: await inside.nextId(type), type, ...fields, created_at: now, updated_at: now };
    await checkPorts(service, inside, created);
    await inside.create(created);
    return created;
  });

async function updateInstance(service: Service, id: string, patch: UpdateInstance): Promise<Instance> {
  const { types, rules, supervisor, inOrder } = service;
  await types.refresh();
  if (patch.config !== undefined) {
    const before = await readStored(service.store, id);
    await rules.check(metaOf(types, before.type), configAfter(types, before, patch.config), before.config);
  }
  const going = await inOrder(async () => {
    const after = await change(service, id, (before) => ({
      ...before,
      ...patch,
      config: configAfter(types, before, patch.config),
    }));
    // If the rules cannot be written, an instance does not start, but it still stops.
    const ending = after.enabled ? null : supervisor.stop(id);
    await publishRules(service);
    return { done: ending ?? supervisor.restart(after) };
  });
  return settled(service, id, going.done);
}

const configAfter = (types: ConnectorTypes, { id, type, config }: StoredInstance, sent: UpdateInstance['config']) =>
  sent === undefined ? config : replaceConfig({ id, meta: metaOf(types, type), validate: types.validate, before: config, sent });

/** Called before a process is started, so that the core applies the rules to its first message. */
const publishRules = async ({ rules, store }: Service): Promise<void> => rules.publish(await store.list());

async function removeInstance(service: Service, id: string): Promise<void> {
  const { store, paths, supervisor, forgetOutbound, inOrder } = service;
  const gone = await inOrder(async () => {
    await readStored(store, id);
    await store.delete(id);
    // Whatever fails from here on, no process outlives its row.
    const done = supervisor.remove(id);
    const tidied = forgetOutbound(id).then(() => publishRules(service));
    await tidied.catch(() => undefined); // thrown below, once the process has ended
    return { done, tidied };
  });
  await gone.done;
  await rm(path.join(paths.instances, id), { recursive: true, force: true });
  await gone.tidied;
}

const change = (service: Service, id: string, edit: (before: StoredInstance) => StoredInstance): Promise<StoredInstance> =>
  service.store.transaction(async (inside) => {
    const after = { ...edit(await readStored(inside, id)), updated_at: service.clock.now() };
    await checkPorts(service, inside, after);
    await inside.update(after);
    return after;
  });

/** Waits for the outcome of a start, at most `patienceMs`. Returns the instance as it is then. */
async function settled(service: Service, id: string, going: Promise<unknown>): Promise<Instance> {
  await within(going, patienceMs, service.clock);
  return withStatus(service, await readStored(service.store, id));
}

const withStatus = ({ supervisor }: Service, stored: StoredInstance): Instance => ({
  ...stored,
  ...supervisor.statusOf(stored.id),
});

function metaOf(types: ConnectorTypes, type: string): ConnectorMeta {
  const meta = types.find(type)?.meta;
  if (meta !== undefined) return meta;
  const known = types
    .list()
    .map((each) => each.meta.type)
    .join(', ');
  throw badRequest(`There is no connector type "${type.slice(0, 64)}". Known types: ${known || 'none'}.`, {
    fields: [{ field: 'type', problem: 'is unknown' }],
  });
}

async function readStored(from: InstanceRows, id: string): Promise<StoredInstance> {
  const instance = await from.read(id);
  if (instance === null) throw notFound('instance', id);
  return instance;
}

async function checkPorts({ settings: hosts, types }: Service, from: InstanceRows, candidate: StoredInstance): Promise<void> {
  if (!candidate.enabled) return;
  const fieldsOf = (type: string) => types.find(type)?.meta.configSchema.properties;
  const clash = findPortClash(candidate, await from.list(), { hosts, fieldsOf });
  if (clash !== null) throw conflict(clash);
}
