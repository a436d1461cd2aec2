import type { Clock } from '@svc/service-kit/clock.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { RunningConnector } from '../connector.ts';
import type { ChildLog } from './child-log.ts';
import type { ParentLink } from './parent-link.ts';

type Deps = { parent: Pick<ParentLink, 'send'>; log: ChildLog; clock: Pick<Clock, 'every'>; heartbeatMs: number };

/** How long the channel may be unhealthy before the manager is told, ms. */
const lookMs = 2_000;
const maxProblemChars = 1_000;

/**
 * Sends heartbeats while `health()` reports healthy, and tells the manager promptly about a problem and its end. Returns a function that
 * stops this. A `health()` that throws means an unhealthy channel: it must not end the process.
 */
export function watchHealth({ parent, log, clock, heartbeatMs }: Deps, running: Pick<RunningConnector, 'health'>): () => void {
  let told: string | null = null;
  const look = (): string | null => {
    const problem = problemOf(running);
    if (problem === told) return problem;
    parent.send({ type: 'problem', text: problem });
    // The first heartbeat also releases messages that wait for the channel.
    if (problem === null) parent.send({ type: 'heartbeat' });
    told = problem;
    return problem;
  };
  const beat = () => {
    const problem = look();
    if (problem === null) parent.send({ type: 'heartbeat' });
    else log('warn', 'not healthy', { detail: problem });
  };
  beat();
  const ends = [clock.every(heartbeatMs, beat), clock.every(lookMs, () => void look())];
  return () => ends.forEach((end) => end());
}

function problemOf(running: Pick<RunningConnector, 'health'>): string | null {
  try {
    const { healthy, detail } = running.health();
    return healthy ? null : cutText(detail || 'it gave no reason', maxProblemChars);
  } catch (error) {
    return cutText(`its health check failed: ${errorText(error)}`, maxProblemChars);
  }
}
