import fc from 'fast-check';

export * from 'fast-check';

/** The number of runs of a property that sets none. */
const usualRuns = 100;
const times = 20;

/** fast-check with many times more runs for every property; `deepProperties` substitutes it for the library. */
const assert = ((property, parameters) =>
  fc.assert(property, { ...parameters, numRuns: (parameters?.numRuns ?? usualRuns) * times })) as typeof fc.assert;

// oxlint-disable-next-line import/no-default-export -- it replaces the library, which has one
export default { ...fc, assert };
