import type { BuiltInToolServer, ToolServerDocument, ToolServerEntry } from '@svc/contract/tool-server.ts';
import type { Tier } from '@svc/contract/trust.ts';
import type { ToolServer } from '@svc/engine-kit/engine.ts';
import { allowedToolServers } from '@svc/engine-kit/tool-servers.ts';
import { errorText, ServiceError } from '@svc/service-kit/service-error.ts';
import { askBuiltIn, type BuiltInTools, type MissingTools, type ToolTurn } from './built-in-tools.ts';
import { maskEntry } from './mask-entry.ts';
import { secretNames } from './secret-references.ts';
import { createServerHealth, type ServerHealth, type TurnWatch } from './server-health.ts';
import type { Launch } from './to-tool-server.ts';
import { openToolRegistry, type Registered, type ToolRegistry, type ToolRegistryDeps } from './tool-registry.ts';

type Deps = Omit<ToolRegistryDeps, 'onChange'>;

/** The servers that a turn's engine gets, and those that it should get but cannot. */
export type TurnTools = TurnWatch & { servers: ToolServer[]; missing: MissingTools[] };

/** For a turn that may not use any, or needs none. */
export const noTools: TurnTools = { servers: [], missing: [], onMissing: () => undefined, onDone: () => undefined };

/** The tool servers, for the operator and for turns. Turns read them from memory. Changes take effect with the next turn. */
export type ToolServers = Pick<ToolRegistry, 'has' | 'isOn' | 'save' | 'toggle' | 'remove'> & {
  /** The whole registry as it may be shown. */
  list(): ToolServerDocument;
  /** The names of the secrets that each registered server uses. */
  secretUses(): { name: string; secrets: string[] }[];
  /** Problems of the secrets that an entry names, such as one that is not stored yet. */
  missingSecrets(entry: ToolServerEntry): Promise<string[]>;
  /** A server in the form that engines take, for the operator's tests, switched on or not. @throws `not_found`. */
  launch(name: string, ended: AbortSignal): Promise<Launch>;
  /** Reports the result of a test. An available server is tried again in the next turn. */
  attempted(name: string, missing: string | null): void;
  /** Notices for the operator: servers that are switched on and missing. */
  notices(): string[];
  /** The tool servers of a turn: switched on, allowed by the caller's roles, and within the caller's tool policy. Never rejects. */
  serversFor(turn: ToolTurn): Promise<TurnTools>;
};

export async function openToolServers(deps: Deps): Promise<ToolServers> {
  const { secrets, builtIns } = deps;
  const health = createServerHealth(deps.clock);
  const registry = await openToolRegistry({ ...deps, onChange: health.forget });
  const { has, isOn, save, toggle, remove } = registry;
  const parts: Parts = { ...deps, health, registry };

  return {
    has,
    isOn,
    save,
    toggle,
    remove,
    list: () => toDocument(parts),

    secretUses: () => [...registry.registered].map(([name, { entry }]) => ({ name, secrets: secretsNamedIn(entry) })),

    async missingSecrets(entry) {
      const faults = await Promise.all(secretsNamedIn(entry).map((name) => secrets.resolve(name).then(() => null, faultText)));
      return faults.filter((fault) => fault !== null);
    },

    async launch(name, ended) {
      const builtIn = builtIns.find((one) => one.name === name);
      if (builtIn === undefined) return registry.get(name).launch('SACRED');
      return builtIn.serverForOperator(ended).then(
        (server) => ({ server }),
        (error: unknown) => ({ problem: errorText(error), isPersonal: false }),
      );
    },

    attempted(name, missing) {
      if (has(name)) health.attempted(name, missing);
    },

    notices: () =>
      [...registry.registered.keys(), ...builtIns.map(({ name }) => name)].filter(isOn).flatMap((name) => {
        const known = health.of(name);
        return known.state === 'missing' ? [`${known.reason} Try it: ./svc tool test ${name}`] : [];
      }),

    serversFor: async (turn) => (turn.identity.tool_policy === 'none' ? noTools : serversFor(parts, turn)),
  };
}

function secretsNamedIn(entry: ToolServerEntry): string[] {
  const values = Object.values((entry.type === 'stdio' ? entry.env : entry.headers) ?? {});
  return [...new Set(values.flatMap(secretNames))];
}

type Parts = Deps & { health: ServerHealth; registry: ToolRegistry };

function toDocument({ builtIns, registry, health }: Parts): ToolServerDocument {
  const own = builtIns.map(({ name, description }): [string, BuiltInToolServer] => [
    name,
    { type: 'built-in', enabled: registry.isOn(name), safe: true, description },
  ]);
  const others = [...registry.registered].map(([name, { entry }]): [string, ToolServerEntry] => [name, maskEntry(entry)]);
  const all = [...own, ...others.toSorted(([a], [b]) => (a < b ? -1 : 1))];
  return { servers: Object.fromEntries(all), states: Object.fromEntries(all.map(([name]) => [name, health.of(name)])) };
}

function faultText(error: unknown): string {
  if (error instanceof ServiceError) return error.message;
  throw error;
}

async function serversFor(parts: Parts, turn: ToolTurn): Promise<TurnTools> {
  const { tool_policy: toolPolicy, trust_tier: tier } = turn.identity;
  const { builtIns, registry, health } = parts;
  const mayUse = (name: string) => registry.isOn(name) && isListed(turn, name);
  const offers = await Promise.all([
    ...builtIns.filter(({ name }) => mayUse(name)).map((builtIn) => offerBuiltIn(parts, builtIn, turn)),
    ...[...registry.registered]
      .filter(([name, { entry }]) => mayUse(name) && (toolPolicy === 'full' || entry.safe))
      .map(([name, known]) => offerRegistered(health, name, known, tier)),
  ]);
  const servers = offers.flatMap((offer) => (offer !== null && 'server' in offer ? [offer.server] : []));
  const away = offers.flatMap((offer) => (offer !== null && 'missing' in offer ? [offer] : []));
  const personal = new Set(away.filter(({ isPersonal }) => isPersonal).map(({ missing }) => missing.name));
  return {
    servers: allowedToolServers({ toolPolicy, toolServers: servers }),
    missing: away.map((one) => one.missing),
    ...health.watch(
      servers.map(({ name }) => name),
      personal,
    ),
  };
}

const isListed = ({ identity: { tool_servers } }: ToolTurn, name: string): boolean =>
  tool_servers === '*' || tool_servers.includes(name);

/**
 * The outcome for a server in a turn; null when it has nothing for the turn. `isPersonal`: it is missing in this turn only, which says
 * nothing about the server.
 */
type Offer = { server: ToolServer } | { missing: MissingTools; isPersonal: boolean } | null;

async function offerBuiltIn({ clock }: Parts, builtIn: BuiltInTools, turn: ToolTurn): Promise<Offer> {
  const answer = await askBuiltIn(builtIn, turn, clock);
  if ('missing' in answer) return { ...answer, isPersonal: false };
  return answer.server === null ? null : { server: answer.server };
}

async function offerRegistered(health: ServerHealth, name: string, { launch }: Registered, tier: Tier): Promise<Offer> {
  const cooldown = health.cooldown(name);
  if (cooldown !== null) return { missing: { name, reason: cooldown }, isPersonal: true };
  const launched = await launch(tier);
  if ('server' in launched) return launched;
  return { missing: { name, reason: launched.problem }, isPersonal: launched.isPersonal };
}
