import type { ToolServerState } from '@svc/contract/tool-server.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';

/** What a turn says of its servers while its engine runs. */
export type TurnWatch = {
  /** A server is not there; `message` names it and says why. */
  onMissing(name: string, message: string): void;
  /** The engine has ended well: the servers that it did not miss were there. */
  onDone(): void;
};

/** What turns and tests have found of each tool server since the service started. */
export type ServerHealth = {
  of(name: string): ToolServerState;
  /** Why a server is left out for now, or null. */
  cooldown(name: string): string | null;
  /** What a test has found. `missing`: a sentence that names the server and says why it is not there. */
  attempted(name: string, missing: string | null): void;
  /** For a turn with these servers. Those that are `personal` may be missing in this turn alone, which says nothing of them. */
  watch(names: readonly string[], personal: ReadonlySet<string>): TurnWatch;
  /** The server is another one now, or gone. */
  forget(name: string): void;
};

export function createServerHealth(clock: Pick<Clock, 'now' | 'elapsed'>): ServerHealth {
  const breaker = createCircuitBreaker(clock);
  const states = new Map<string, ToolServerState>();

  const of = (name: string): ToolServerState => states.get(name) ?? { state: 'untried' };
  const there = (name: string): void => void states.set(name, { state: 'there', at: clock.now() });
  const missing = (name: string, reason: string): void =>
    void states.set(name, { state: 'missing', at: clock.now(), reason, last_there_at: lastThere(of(name)) });

  return {
    of,
    cooldown: breaker.reason,

    attempted(name, reason) {
      if (reason !== null) return missing(name, reason);
      breaker.forget(name);
      there(name);
    },

    watch(names, personal) {
      const startedAt = clock.elapsed();
      const missed = new Set<string>();
      return {
        onMissing(name, message) {
          missed.add(name);
          breaker.missed(name, clock.elapsed() - startedAt);
          if (!personal.has(name)) missing(name, message);
        },
        onDone() {
          for (const name of names) if (!missed.has(name)) there(name);
        },
      };
    },

    forget(name) {
      breaker.forget(name);
      states.delete(name);
    },
  };
}

function lastThere(known: ToolServerState): number | null {
  if (known.state === 'there') return known.at;
  return known.state === 'missing' ? known.last_there_at : null;
}
