/** The reply in place of an answer when the core was killed twice during the turn, which is then listed as failed. */
export const saysGivenUp = (text: string): boolean =>
  text.startsWith('The service stopped twice while it worked on this message');

/** A message whose turn the core gave up; `place`: its conversation, in which one turn runs at a time. */
export type GivenUp = { name: string; place: unknown; at: number };

/**
 * Turns that were given up too early. A turn that is interrupted by the end of the core runs once more, and is given up when that run is interrupted, too.
 * `coreEnds`: the times at which the core was killed, by the clock of `at`.
 */
export function givenUpTooSoon(givenUp: readonly GivenUp[], coreEnds: readonly number[]): string[] {
  const broken: string[] = [];
  for (const [, own] of Map.groupBy(givenUp, ({ place }) => place)) {
    for (const { name, at } of own) {
      const since = coreEnds.filter((end) => end > at).length;
      if (since < 2) broken.push(`${name} was given up, though the core was ended ${since} times since`);
    }
    // Two kills can cost only the one running turn.
    const most = Math.floor(coreEnds.length / 2);
    if (own.length > most)
      broken.push(`${own.map(({ name }) => name).join(', ')} were given up in one place by ${coreEnds.length} ends of the core`);
  }
  return broken;
}
