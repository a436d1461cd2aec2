import fc from 'fast-check';

export * from 'fast-check';

/** What a property runs with where it says nothing. */
const usualRuns = 100;
const times = 20;

/** fast-check, with every property run so many times as often: `deepProperties` puts it in the place of the library. */
const assert = ((property, parameters) =>
  fc.assert(property, { ...parameters, numRuns: (parameters?.numRuns ?? usualRuns) * times })) as typeof fc.assert;

// oxlint-disable-next-line import/no-default-export -- it stands for the library, which has one
export default { ...fc, assert };
