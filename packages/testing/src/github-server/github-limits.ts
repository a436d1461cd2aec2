import type { Clock } from '@svc/service-kit/clock.ts';

/** As documented: points of a minute (1 a look, 5 a write), and texts that are made in a minute and in an hour. */
export type GitHubLimits = { pointsPerMinute: number; textsPerMinute: number; textsPerHour: number };

export const documentedLimits: GitHubLimits = { pointsPerMinute: 900, textsPerMinute: 80, textsPerHour: 500 };

/** What of a limit was passed, and when. */
export type Offence = { limit: keyof GitHubLimits; at: number };

/** Counts what a client does. `timeScale`: how much faster its minutes go. */
export type LimitCounter = {
  offences: Offence[];
  /** Seconds after which it may be tried again; null when it may go on. */
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
