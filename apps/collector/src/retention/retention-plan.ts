/** One pass over old events: those of some kinds, or of all but some, from before a time. */
export type RetentionPass = { name: string; days: number; kinds: readonly string[]; isAllBut: boolean };

export const sampleKind = 'system-sample';

/** Passes for these settings: one for what has no days of its own, one for each other number of days. */
export function retentionPlan(days: number, byKind: Readonly<Record<string, number>>): RetentionPass[] {
  const own = Object.entries(byKind).filter(([kind]) => kind !== sampleKind);
  const kindsByDays = Map.groupBy(own, ([, ownDays]) => ownDays);
  const passes = [...kindsByDays].map(([ownDays, entries]): RetentionPass => {
    const kinds = entries.map(([kind]) => kind).toSorted();
    return { name: `${ownDays}:${kinds.join(',')}`, days: ownDays, kinds, isAllBut: false };
  });
  const rest: RetentionPass = { name: `${days}:*`, days, kinds: own.map(([kind]) => kind).toSorted(), isAllBut: true };
  return [rest, ...passes].filter((pass) => pass.days > 0);
}
