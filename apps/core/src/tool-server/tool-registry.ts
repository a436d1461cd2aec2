import { deviceToolsName } from '@svc/contract/device-tools.ts';
import { toolbeltName, type ToolServerEntry } from '@svc/contract/tool-server.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { createLane } from '@svc/service-kit/lane.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { badRequest, conflict, notFound } from '@svc/service-kit/service-error.ts';
import type { Database } from '@svc/store/database.ts';
import type { Secrets } from '../secret/secrets.ts';
import type { BuiltInTools } from './built-in-tools.ts';
import { secretsIn } from './mask-entry.ts';
import { createLauncher, type Launcher } from './to-tool-server.ts';
import { createToolServerStore } from './tool-server-store.ts';

export type ToolRegistryDeps = {
  db: Pick<Database, 'all' | 'run'>;
  clock: Clock;
  log: Log;
  knownSecrets: Pick<KnownSecrets, 'learn'>;
  secrets: Pick<Secrets, 'resolve'>;
  builtIns: readonly BuiltInTools[];
  /** Called when a server was changed, switched or removed. */
  onChange: (name: string) => void;
};

export type Registered = { entry: ToolServerEntry; launch: Launcher };

/** The tool servers: stored in the database, cached in memory, and changed one at a time. */
export type ToolRegistry = {
  /** The registered servers, without the built-in ones. */
  readonly registered: ReadonlyMap<string, Registered>;
  has(name: string): boolean;
  /** Whether a server is switched on. One that is off is offered to nobody. */
  isOn(name: string): boolean;
  /** @throws `not_found`. */
  get(name: string): Registered;
  /**
   * Adds a server, or replaces the one of this name. Resolves when it is stored.
   * @throws `conflict` for the name of a built-in server, or an existing one that may not be replaced.
   */
  save(name: string, entry: ToolServerEntry, options?: { replaces: boolean }): Promise<{ replaced: boolean }>;
  /** Switches a server on or off. Returns whether it is on now. @throws `not_found`. */
  toggle(name: string): Promise<boolean>;
  /** @throws `conflict` for a built-in server, `not_found`. */
  remove(name: string): Promise<void>;
};

const mostServers = 100;

export async function openToolRegistry(deps: ToolRegistryDeps): Promise<ToolRegistry> {
  const { db, clock, log, knownSecrets, secrets, builtIns, onChange } = deps;
  const store = createToolServerStore(db, clock);
  const registered = new Map<string, Registered>();
  /** The built-in servers that are switched off. */
  const switchedOff = new Set<string>();
  /** Each change starts from the result of the one before. */
  const oneByOne = createLane(1);

  const hold = (name: string, entry: ToolServerEntry) => {
    knownSecrets.learn(secretsIn(entry));
    registered.set(name, { entry, launch: createLauncher(name, entry, { secrets, clock }) });
  };
  for (const { name, enabled, entry } of await store.list()) {
    if (entry !== null) hold(name, entry);
    else if (!enabled) switchedOff.add(name);
  }

  const isOwn = (name: string) => builtIns.some((builtIn) => builtIn.name === name);
  const isBuiltIn = (name: string) => name === toolbeltName || name === deviceToolsName || isOwn(name);
  const refuseBuiltIn = (name: string, what: string) => {
    if (isBuiltIn(name))
      throw conflict(`"${name}" is part of the service and cannot be ${what}. It can be switched off: ./svc tool toggle ${name}`);
  };
  const get = (name: string): Registered => {
    const known = registered.get(name);
    if (known === undefined) throw notFound('tool server', name);
    return known;
  };

  return {
    registered,
    has: (name) => registered.has(name) || isBuiltIn(name),
    isOn: (name) => registered.get(name)?.entry.enabled ?? !switchedOff.has(name),
    get,

    save: (name, entry, { replaces } = { replaces: true }) =>
      oneByOne(async () => {
        refuseBuiltIn(name, 'replaced');
        const replaced = registered.has(name);
        if (replaced && !replaces)
          throw conflict(`A tool server ${name} already exists. Choose another name, or change that one.`);
        if (!replaced && registered.size >= mostServers) {
          throw badRequest(`There are ${mostServers} tool servers already. Remove one first: DELETE /v2/mcp/:name.`);
        }
        await store.save({ name, enabled: entry.enabled, entry });
        hold(name, entry);
        onChange(name);
        log.info({ tool_server: name, type: entry.type, replaced }, 'tool server saved');
        return { replaced };
      }),

    toggle: (name) =>
      oneByOne(async () => {
        const own = isOwn(name);
        const enabled = own ? switchedOff.has(name) : !get(name).entry.enabled;
        const entry = own ? null : { ...get(name).entry, enabled };
        await store.save({ name, enabled, entry });
        if (entry !== null) hold(name, entry);
        else if (enabled) switchedOff.delete(name);
        else switchedOff.add(name);
        onChange(name);
        log.info({ tool_server: name, enabled }, 'tool server switched');
        return enabled;
      }),

    remove: (name) =>
      oneByOne(async () => {
        refuseBuiltIn(name, 'removed');
        get(name);
        await store.remove(name);
        registered.delete(name);
        onChange(name);
        log.info({ tool_server: name }, 'tool server removed');
      }),
  };
}
