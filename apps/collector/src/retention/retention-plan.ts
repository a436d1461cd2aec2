/** One pass over events that are older than `days`: those of `kinds`, or with `isAllBut` those of all other kinds. */
export type RetentionPass = { name: string; days: number; kinds: readonly string[]; isAllBut: boolean };

export const sampleKind = 'system-sample';

/** The passes for these settings: one for kinds without their own number of days, and one for each such number. */
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
