import type { ModelServer } from '@svc/contract/engine.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { LocalEndpoint } from './choose-engine.ts';
import { hasResponses, lookAtModelServer, type ModelServerLook } from './look-at-model-server.ts';

type Deps = {
  /** Base URLs to check. */
  places: readonly string[];
  clock: Clock;
  log: Pick<Log, 'warn'>;
  onAppeared(server: ModelServer): void;
  onGone(server: ModelServer): void;
};

/** The model servers of this machine: searched periodically, and cached for seconds. */
export type ModelServers = {
  /** The servers found. Bounded in time, with at most one search at once. */
  list(): Promise<ModelServer[]>;
  /** The first server that has a chat model and that codex can use. */
  best(): Promise<LocalEndpoint | null>;
  /** Begins to watch; `onChange` is called when a server appears or disappears. */
  watch(onChange: () => void): void;
  close(): void;
};

const usualNames: Record<string, string> = { '11434': 'Ollama', '1234': 'LM Studio', '8080': 'llama.cpp', '8000': 'vLLM' };
/** For each of three requests; `svc status` waits for a second. */
const limitMs = 300;
const lifeMs = 3000;
const lookEveryMs = 15_000;
/** The common list shows neither which model is loaded nor whether a route is new. */
const wholeLookEveryMs = 60_000;
/** A busy server may be slow: it counts as gone after this many checks in a row without an answer. */
const missesUntilGone = 3;

/** Where nothing listens, a check is just a refused local connection: it blocks nothing and sends nothing elsewhere. */
export function createModelServers({ places, clock, log, onAppeared, onGone }: Deps): ModelServers {
  const misses = new Map<string, number>();
  const seen = new Map<string, { look: ModelServerLook; at: number }>();
  let known: ModelServer[] = [];
  let looking: Promise<ModelServer[]> | null = null;
  let until = -Infinity;
  let hear: (() => void) | null = null;
  let cancel = () => undefined as void;

  const withSilent = (answered: ModelServer[]): ModelServer[] =>
    places.flatMap((place) => {
      const found = answered.find(({ base_url }) => base_url === place);
      misses.set(place, found === undefined ? (misses.get(place) ?? 0) + 1 : 0);
      const before = known.find(({ base_url }) => base_url === place);
      return found ?? ((misses.get(place) ?? 0) < missesUntilGone ? (before ?? []) : []);
    });
  const note = (answered: ModelServer[]): void => {
    const found = withSilent(answered);
    const gone = known.filter((one) => !found.some((other) => isSame(one, other)));
    const came = found.filter((one) => !known.some((other) => isSame(one, other)));
    known = found;
    until = clock.elapsed() + lifeMs;
    gone.forEach(onGone);
    came.forEach(onAppeared);
    if (gone.length + came.length > 0) hear?.();
  };
  const lookAt = async (base_url: string): Promise<ModelServer | null> => {
    const before = seen.get(base_url);
    const last = before !== undefined && clock.elapsed() - before.at < wholeLookEveryMs ? before.look : null;
    const look = await lookAtModelServer(base_url, { timeoutMs: limitMs }, last);
    if (look === null || look.responses === null) {
      seen.delete(base_url);
      return null;
    }
    if (look !== last) seen.set(base_url, { look, at: clock.elapsed() });
    return toModelServer(base_url, look);
  };
  const look = (): Promise<ModelServer[]> => {
    looking ??= Promise.all(places.map(lookAt))
      .then((all) => {
        note(all.filter((one) => one !== null));
        return known;
      })
      .finally(() => (looking = null));
    return looking;
  };
  const list = (): Promise<ModelServer[]> => (clock.elapsed() < until ? Promise.resolve(known) : look());

  return {
    list,
    async best() {
      const server = (await list()).find(({ responses, models }) => responses && models.length > 0);
      return server === undefined ? null : { name: server.name, baseUrl: server.base_url, model: server.models[0] ?? null };
    },
    watch(onChange) {
      hear = onChange;
      cancel = clock.every(
        lookEveryMs,
        () => void look().catch((error: unknown) => log.warn({ err: error }, 'the search for model servers failed')),
      );
    },
    close: () => cancel(),
  };
}

const toModelServer = (base_url: string, look: ModelServerLook): ModelServer => ({
  name: look.kind ?? usualNames[new URL(base_url).port] ?? 'A model server',
  base_url,
  models: look.models,
  responses: hasResponses(look),
});

/** A server whose models have changed counts as a different one. */
const isSame = (a: ModelServer, b: ModelServer): boolean =>
  a.base_url === b.base_url && a.responses === b.responses && a.models.join(' ') === b.models.join(' ');
