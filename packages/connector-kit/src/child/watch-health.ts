import type { Clock } from '@svc/service-kit/clock.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { RunningConnector } from '../connector.ts';
import type { ChildLog } from './child-log.ts';
import type { ParentLink } from './parent-link.ts';

type Deps = { parent: Pick<ParentLink, 'send'>; log: ChildLog; clock: Pick<Clock, 'every'>; heartbeatMs: number };

/** How long a channel may be unwell before the manager knows. */
const lookMs = 2_000;
const maxProblemChars = 1_000;

/**
 * Beats while `health()` is good, and has the manager know at once what is wrong when it is not, and when that is over. The result ends it.
 * A `health()` that throws is a channel that is not well: it must not end the process.
 */
export function watchHealth({ parent, log, clock, heartbeatMs }: Deps, running: Pick<RunningConnector, 'health'>): () => void {
  let told: string | null = null;
  const look = (): string | null => {
    const problem = problemOf(running);
    if (problem === told) return problem;
    parent.send({ type: 'problem', text: problem });
    // What waits for the channel goes out with the first beat.
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
