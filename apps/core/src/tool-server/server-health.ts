import type { ToolServerState } from '@svc/contract/tool-server.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';

/** Reports on a turn's servers while its engine runs. */
export type TurnWatch = {
  /** A server is missing; `message` names it and says why. */
  onMissing(name: string, message: string): void;
  /** The engine has ended without an error: every server not reported missing was available. */
  onDone(): void;
};

/** What turns and tests have found about each tool server since the service started. */
export type ServerHealth = {
  of(name: string): ToolServerState;
  /** Why a server is left out for now, or null. */
  cooldown(name: string): string | null;
  /** The result of a test. `missing`: a sentence that names the server and says why it is unavailable; null when it is available. */
  attempted(name: string, missing: string | null): void;
  /** Watches a turn with these servers. The `personal` ones may be missing in this turn only, which says nothing about the server. */
  watch(names: readonly string[], personal: ReadonlySet<string>): TurnWatch;
  /** The server was changed or removed. */
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
