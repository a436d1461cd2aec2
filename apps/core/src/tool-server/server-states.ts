import type { ToolServerState } from '@svc/contract/tool-server.ts';
import type { Clock } from '@svc/service-kit/clock.ts';

/** What turns and tests have found of each tool server since the service started. */
export function createServerStates(clock: Pick<Clock, 'now'>) {
  const states = new Map<string, ToolServerState>();
  const of = (name: string): ToolServerState => states.get(name) ?? { state: 'untried' };
  const lastThere = (name: string): number | null => {
    const known = of(name);
    if (known.state === 'there') return known.at;
    return known.state === 'missing' ? known.last_there_at : null;
  };
  return {
    of,
    there: (name: string): void => void states.set(name, { state: 'there', at: clock.now() }),
    /** `reason`: a sentence that names the server. */
    missing: (name: string, reason: string): void =>
      void states.set(name, { state: 'missing', at: clock.now(), reason, last_there_at: lastThere(name) }),
    /** The server is another one now, or gone. */
    forget: (name: string): void => void states.delete(name),
  };
}
