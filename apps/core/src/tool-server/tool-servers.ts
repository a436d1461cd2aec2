import {
  toolbeltName,
  type BuiltInToolServer,
  type ToolServerDocument,
  type ToolServerEntry,
} from '@svc/contract/tool-server.ts';
import type { Tier } from '@svc/contract/trust.ts';
import type { ToolServer } from '@svc/engine-kit/engine.ts';
import { allowedToolServers } from '@svc/engine-kit/turn-text.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { badRequest, conflict, errorText, notFound, ServiceError } from '@svc/service-kit/service-error.ts';
import type { Database } from '@svc/store/database.ts';
import type { Secrets } from '../secret/secrets.ts';
import { askBuiltIn, type BuiltInTools, type MissingTools, type ToolTurn } from './built-in-tools.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';
import { maskEntry, secretsIn } from './mask-entry.ts';
import { secretNames } from './secret-references.ts';
import { createServerStates } from './server-states.ts';
import { createLauncher, type Launch, type Launcher } from './to-tool-server.ts';
import { createToolServerStore } from './tool-server-store.ts';

type Deps = {
  db: Pick<Database, 'all' | 'run'>;
  clock: Clock;
  log: Log;
  knownSecrets: Pick<KnownSecrets, 'learn'>;
  secrets: Pick<Secrets, 'resolve'>;
  builtIns: readonly BuiltInTools[];
};

/** What a turn's engine is given, and what it should have been given but cannot be. */
export type TurnTools = {
  servers: ToolServer[];
  missing: MissingTools[];
  /** A server is not there; `message` names it and says why. */
  onMissing(name: string, message: string): void;
  /** The engine has ended well: the servers that it did not miss were there. */
  onDone(): void;
};

type Registered = { entry: ToolServerEntry; launch: Launcher };

/** What becomes of a server in a turn; null when it has nothing for it. `isPersonal`: missing in this turn alone, which says nothing of it. */
type Offer = { server: ToolServer } | { missing: MissingTools; isPersonal: boolean } | null;

/** For a turn that may have none, or has no use for any. */
export const noTools: TurnTools = { servers: [], missing: [], onMissing: () => undefined, onDone: () => undefined };
const mostServers = 100;

/**
 * The registry of tool servers: stored in the database, held in memory, so that a turn looks nothing up. Changes count from
 * the next turn on.
 */
export type ToolServers = {
  has(name: string): boolean;
  /** Whether a server is switched on. One that is off is given to nobody. */
  isOn(name: string): boolean;
  /** The whole registry as it may be shown. */
  list(): ToolServerDocument;
  /** Adds a server, or replaces the one of this name. Resolves when it is stored. @throws `conflict` for a built-in's name. */
  save(name: string, entry: ToolServerEntry): Promise<{ replaced: boolean }>;
  /** What is wrong with the secrets that an entry names, such as that nobody has stored them yet. */
  missingSecrets(entry: ToolServerEntry): Promise<string[]>;
  /** Switches a server on or off. Gives what it is now. @throws `not_found`. */
  toggle(name: string): Promise<boolean>;
  /** @throws `conflict` for a built-in one, `not_found`. */
  remove(name: string): Promise<void>;
  /** A server as an engine takes it, for the operator to try it out, switched on or not. @throws `not_found`. */
  launch(name: string, ended: AbortSignal): Promise<Launch>;
  /** What a test of a server has found. One that is there is tried again in the next turn. */
  tried(name: string, missing: string | null): void;
  /** What the operator should know: servers that are switched on and missing. */
  notices(): string[];
  /** The tool servers of a turn: switched on, allowed by the caller's roles, and within their tool policy. Never rejects. */
  serversFor(turn: ToolTurn): Promise<TurnTools>;
};

export async function openToolServers({ db, clock, log, knownSecrets, secrets, builtIns }: Deps): Promise<ToolServers> {
  const store = createToolServerStore(db, clock);
  const registered = new Map<string, Registered>();
  const switchedOff = new Set<string>();
  const breaker = createCircuitBreaker(clock);
  const states = createServerStates(clock);

  const forget = (name: string) => {
    breaker.forget(name);
    states.forget(name);
  };
  const hold = (name: string, entry: ToolServerEntry) => {
    knownSecrets.learn(secretsIn(entry));
    registered.set(name, { entry, launch: createLauncher(name, entry, { secrets, clock }) });
  };
  for (const { name, enabled, entry } of await store.list()) {
    if (entry !== null) hold(name, entry);
    else if (!enabled) switchedOff.add(name);
  }

  /** One change at a time: each begins with what the one before has left. */
  let lastChange: Promise<unknown> = Promise.resolve();
  const oneByOne = <T>(change: () => Promise<T>): Promise<T> => {
    const result = lastChange.then(change, change);
    lastChange = result.catch(() => undefined);
    return result;
  };

  const isOn = (name: string): boolean => registered.get(name)?.entry.enabled ?? !switchedOff.has(name);
  const isBuiltIn = (name: string) => name === toolbeltName || builtIns.some((builtIn) => builtIn.name === name);
  const entryOf = (name: string): ToolServerEntry => {
    const known = registered.get(name);
    if (known === undefined) throw notFound('tool server', name);
    return known.entry;
  };
  const refuseBuiltIn = (name: string, what: string) => {
    if (isBuiltIn(name))
      throw conflict(`"${name}" is part of the service and cannot be ${what}. It can be switched off: ./svc tool toggle ${name}`);
  };

  const builtInOf = async (builtIn: BuiltInTools, turn: ToolTurn): Promise<Offer> => {
    const answer = await askBuiltIn(builtIn, turn, clock);
    if ('missing' in answer) return { ...answer, isPersonal: false };
    return answer.server === null ? null : { server: answer.server };
  };
  const registeredOf = async (name: string, { launch }: Registered, tier: Tier): Promise<Offer> => {
    const cooldown = breaker.reason(name);
    if (cooldown !== null) return { missing: { name, reason: cooldown }, isPersonal: true };
    const launched = await launch(tier);
    if ('server' in launched) return launched;
    return { missing: { name, reason: launched.problem }, isPersonal: launched.isPersonal };
  };

  /** Learns from a turn which of its servers were there. */
  const watch = (servers: readonly ToolServer[], personal: ReadonlySet<string>): Pick<TurnTools, 'onMissing' | 'onDone'> => {
    const startedAt = clock.elapsed();
    const missed = new Set<string>();
    return {
      onMissing(name, message) {
        missed.add(name);
        breaker.missed(name, clock.elapsed() - startedAt);
        if (!personal.has(name)) states.missing(name, message);
      },
      onDone() {
        for (const { name } of servers) if (!missed.has(name)) states.there(name);
      },
    };
  };

  return {
    has: (name: string): boolean => registered.has(name) || isBuiltIn(name),

    isOn,

    list(): ToolServerDocument {
      const own = builtIns.map(({ name, description }): [string, BuiltInToolServer] => [
        name,
        { type: 'built-in', enabled: !switchedOff.has(name), safe: true, description },
      ]);
      const others = [...registered].map(([name, { entry }]): [string, ToolServerEntry] => [name, maskEntry(entry)]);
      const all = [...own, ...others.toSorted(([a], [b]) => (a < b ? -1 : 1))];
      return { servers: Object.fromEntries(all), states: Object.fromEntries(all.map(([name]) => [name, states.of(name)])) };
    },

    save: (name: string, entry: ToolServerEntry): Promise<{ replaced: boolean }> =>
      oneByOne(async () => {
        refuseBuiltIn(name, 'replaced');
        const replaced = registered.has(name);
        if (!replaced && registered.size >= mostServers) {
          throw badRequest(`There are ${mostServers} tool servers already. Remove one first: DELETE /v2/mcp/:name.`);
        }
        await store.save({ name, enabled: entry.enabled, entry });
        hold(name, entry);
        forget(name);
        log.info({ tool_server: name, type: entry.type, replaced }, 'tool server saved');
        return { replaced };
      }),

    async missingSecrets(entry: ToolServerEntry): Promise<string[]> {
      const values = Object.values((entry.type === 'stdio' ? entry.env : entry.headers) ?? {});
      const names = new Set(values.flatMap(secretNames));
      const faults = await Promise.all(Array.from(names, (name) => secrets.resolve(name).then(() => null, faultText)));
      return faults.filter((fault) => fault !== null);
    },

    toggle: (name: string): Promise<boolean> =>
      oneByOne(async () => {
        const own = builtIns.some((builtIn) => builtIn.name === name);
        const enabled = own ? switchedOff.has(name) : !entryOf(name).enabled;
        const entry = own ? null : { ...entryOf(name), enabled };
        await store.save({ name, enabled, entry });
        if (entry !== null) hold(name, entry);
        else if (enabled) switchedOff.delete(name);
        else switchedOff.add(name);
        forget(name);
        log.info({ tool_server: name, enabled }, 'tool server switched');
        return enabled;
      }),

    remove: (name: string): Promise<void> =>
      oneByOne(async () => {
        refuseBuiltIn(name, 'removed');
        entryOf(name);
        await store.remove(name);
        registered.delete(name);
        forget(name);
        log.info({ tool_server: name }, 'tool server removed');
      }),

    async launch(name: string, ended: AbortSignal): Promise<Launch> {
      const builtIn = builtIns.find((one) => one.name === name);
      if (builtIn !== undefined) {
        return builtIn.serverForOperator(ended).then(
          (server) => ({ server }),
          (error: unknown) => ({ problem: errorText(error), isPersonal: false }),
        );
      }
      entryOf(name);
      return registered.get(name)!.launch('SACRED');
    },

    tried(name: string, missing: string | null): void {
      if (!registered.has(name) && !isBuiltIn(name)) return;
      if (missing !== null) return states.missing(name, missing);
      breaker.forget(name);
      states.there(name);
    },

    notices: (): string[] =>
      [...registered.keys(), ...builtIns.map(({ name }) => name)].filter(isOn).flatMap((name) => {
        const known = states.of(name);
        return known.state === 'missing' ? [`${known.reason} Try it: ./svc tool test ${name}`] : [];
      }),

    async serversFor(turn: ToolTurn): Promise<TurnTools> {
      const { tool_policy: toolPolicy, trust_tier: tier } = turn.identity;
      if (toolPolicy === 'none') return noTools;
      const mayUse = (name: string) => isOn(name) && isListed(turn, name);
      const offers = await Promise.all([
        ...builtIns.filter(({ name }) => mayUse(name)).map((builtIn) => builtInOf(builtIn, turn)),
        ...[...registered]
          .filter(([name, { entry }]) => mayUse(name) && (toolPolicy === 'full' || entry.safe))
          .map(([name, known]) => registeredOf(name, known, tier)),
      ]);
      const servers = offers.flatMap((offer) => (offer !== null && 'server' in offer ? [offer.server] : []));
      const away = offers.flatMap((offer) => (offer !== null && 'missing' in offer ? [offer] : []));
      const personal = new Set(away.filter(({ isPersonal }) => isPersonal).map(({ missing }) => missing.name));
      const missing = away.map((one) => one.missing);
      return { servers: allowedToolServers({ toolPolicy, toolServers: servers }), missing, ...watch(servers, personal) };
    },
  };
}

function faultText(error: unknown): string {
  if (error instanceof ServiceError) return error.message;
  throw error;
}

const isListed = ({ identity: { tool_servers } }: ToolTurn, name: string): boolean =>
  tool_servers === '*' || tool_servers.includes(name);
