import { createHash } from 'node:crypto';
import type { StartContext } from '@svc/connector-kit/connector.ts';
import { onceOver, type Exchange } from '@svc/connector-kit/http/exchange.ts';
import type { Caller } from '@svc/connector-kit/keys-file.ts';
import type { ConnectorState } from '@svc/connector-kit/state/state.ts';
import { isWithin, type Clock } from '@svc/service-kit/clock.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { headerText } from './header-text.ts';
import type { ChatRequest } from './parse-request.ts';

/**
 * The message id of a request: the caller's `Idempotency-Key`, or a new one. The official clients repeat a request after their timeout, or that of a proxy in
 * front of us, and after a restart of this process. The turn is still running then and must not run again, so a repeated request gets the id of the one before.
 */
export type MessageIds = {
  /** `after`: the response that the request continues. */
  idOf(exchange: Exchange, caller: Caller, request: ChatRequest, after?: string | null): string;
  /** Stores the requests that may still be repeated, for the next process: also those whose connections were just cut off. */
  keep(): Promise<void>;
};

/** `at`: when its caller disconnected, in the time of `clock.elapsed`. */
type Lost = { id: string; at: number };
/** As stored: the time of day. */
type Kept = { print: string; id: string; at: number };

const maxLost = 1_000;
/** Clients retry within seconds. */
const lifeMs = 5 * 60_000;

const stateKey = 'lost';

type Deps = {
  ids: Ids;
  clock: Pick<Clock, 'now' | 'elapsed'>;
  state: Pick<ConnectorState, 'get' | 'set'>;
  log: StartContext['log'];
};

export async function openMessageIds({ ids, clock, state, log }: Deps): Promise<MessageIds> {
  /** Requests whose callers disconnected before the answer. */
  const lost = new Map<string, Lost>();
  /** Those that have no answer yet; each is called when it is over. */
  const running = new Set<() => void>();
  const wall = () => clock.now() - clock.elapsed();
  const note = (error: unknown) => log('warn', 'requests that a restart cuts off may run twice', { error: errorText(error) });
  for (const { print, id, at } of (await state.get<Kept[]>(stateKey).catch(note)) ?? [])
    if (isWithin(at, lifeMs, clock.now())) lost.set(print, { id, at: Math.min(at - wall(), clock.elapsed()) });

  function take(print: string): string | null {
    const known = lost.get(print);
    lost.delete(print);
    return known === undefined || clock.elapsed() - known.at > lifeMs ? null : known.id;
  }

  return {
    idOf(exchange, caller, request, after = null) {
      const own = headerText(exchange, 'idempotency-key');
      if (own !== null) return own;
      const { req, res } = exchange;
      const place = [caller.identity, req.headers['x-session-key'] ?? null, after];
      const printOf = () => fingerprint(place, request);
      const id = (isRepeated(exchange) ? take(printOf()) : null) ?? ids.next('msg');
      const lose = () => {
        running.delete(lose);
        if (res.writableFinished) return;
        lost.set(printOf(), { id, at: clock.elapsed() });
        forgetOldest(lost, maxLost);
      };
      running.add(lose);
      onceOver(exchange, lose);
      return id;
    },
    async keep() {
      for (const lose of running) lose();
      const kept = [...lost].map(([print, { id, at }]) => ({ print, id, at: at + wall() }));
      if (kept.length > 0) await state.set(stateKey, kept).catch(note);
    },
  };
}

const isRepeated = ({ req }: Exchange): boolean => Number(req.headers['x-stainless-retry-count'] ?? 0) > 0;

/** Identifies the caller and the request. Files count by the names that the texts have for them. */
function fingerprint(place: unknown[], { model, system, messages, latest }: ChatRequest): string {
  const digest = createHash('sha256').update(JSON.stringify([...place, model, latest]));
  for (const text of [system, ...messages.flatMap(({ role, text }) => [role, text])]) digest.update(`${text.length}:${text}`);
  return digest.digest('base64url');
}
