import { createHash } from 'node:crypto';
import type { Exchange } from '@svc/connector-kit/http/exchange.ts';
import type { Caller } from '@svc/connector-kit/keys-file.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import { headerText } from './header-text.ts';
import type { ChatRequest } from './parse-request.ts';

/**
 * The message id of a request: the caller's `Idempotency-Key`, or a new one. The official clients repeat a request after their timeout, or that of a proxy in
 * front of us. The turn is still running then and must not run again, so a repeated request gets the id of the one before.
 */
export type MessageIds = {
  /** `after`: the response that the request continues. */
  idOf(exchange: Exchange, caller: Caller, request: ChatRequest, after?: string | null): string;
};

type Lost = { id: string; at: number };

const maxLost = 1_000;
/** Clients retry within seconds. */
const lifeMs = 5 * 60_000;

export function createMessageIds(ids: Ids, clock: Pick<Clock, 'elapsed'>): MessageIds {
  /** Requests whose callers disconnected before the answer. */
  const lost = new Map<string, Lost>();

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
      res.once('close', () => {
        if (res.writableFinished) return;
        lost.set(printOf(), { id, at: clock.elapsed() });
        forgetOldest(lost, maxLost);
      });
      return id;
    },
  };
}

const isRepeated = ({ req }: Exchange): boolean => Number(req.headers['x-stainless-retry-count'] ?? 0) > 0;

/** Identifies the caller and the request. Files count only by their size: nobody repeats a request with different files within seconds. */
function fingerprint(place: unknown[], { model, system, messages, latest }: ChatRequest): string {
  const digest = createHash('sha256').update(JSON.stringify([...place, model, latest]));
  for (const text of [system, ...messages.flatMap(({ role, text, files = [] }) => [role, text, ...files.map(sizeOf)])])
    digest.update(`${text.length}:${text}`);
  return digest.digest('base64url');
}

const sizeOf = ({ source }: NonNullable<ChatRequest['messages'][number]['files']>[number]): string =>
  'base64' in source ? String(source.base64.length) : source.url;
