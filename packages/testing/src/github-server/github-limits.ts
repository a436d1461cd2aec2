import type { Clock } from '@svc/service-kit/clock.ts';

/** As documented: points per minute (1 for a read, 5 for a write), and content creations per minute and per hour. */
export type GitHubLimits = { pointsPerMinute: number; textsPerMinute: number; textsPerHour: number };

export const documentedLimits: GitHubLimits = { pointsPerMinute: 900, textsPerMinute: 80, textsPerHour: 500 };

/** An exceeded limit, and when. */
export type Offence = { limit: keyof GitHubLimits; at: number };

/** Counts the calls of a client. `timeScale`: how much faster the limits' time goes. */
export type LimitCounter = {
  offences: Offence[];
  /** Seconds until a retry is allowed; null when the call is within the limits. */
  take(method: string, isText: boolean): number | null;
};

const minuteMs = 60_000;

export function createLimits(limits: GitHubLimits | null, clock: Pick<Clock, 'elapsed'>, timeScale: number): LimitCounter {
  const points: { at: number; cost: number }[] = [];
  const texts: number[] = [];
  const offences: Offence[] = [];
  const now = () => clock.elapsed() * timeScale;
  const textsWithin = (ms: number) => texts.filter((at) => at > now() - ms).length;
  const refuse = (limit: keyof GitHubLimits, seconds: number): number => {
    offences.push({ limit, at: now() });
    return seconds / timeScale;
  };
  return {
    offences,
    take(method, isText) {
      if (limits === null) return null;
      const cost = method === 'GET' ? 1 : 5;
      while ((points[0]?.at ?? Infinity) < now() - minuteMs) points.shift();
      if (points.reduce((sum, each) => sum + each.cost, cost) > limits.pointsPerMinute) return refuse('pointsPerMinute', 60);
      points.push({ at: now(), cost });
      if (!isText) return null;
      if (textsWithin(minuteMs) >= limits.textsPerMinute) return refuse('textsPerMinute', 60);
      if (textsWithin(60 * minuteMs) >= limits.textsPerHour) return refuse('textsPerHour', 3600);
      texts.push(now());
      return null;
    },
  };
}
