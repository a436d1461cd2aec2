import type { InstanceWorth, InstanceWorthFile } from '@svc/contract/instance-worth.ts';
import type { StoredInstance } from './instance-store.ts';

/** A config's `start_order`: what stands before the middle comes before all that say nothing, what stands behind it after them. */
const middle = 50;

/** What the programs of the operator ask over: nobody there waits for a message that was sent before. */
const apiType = 'compat';

/** The worthiest first, as far as the first difference goes. What is the same in all stays in its order. */
const measures: readonly ((instance: StoredInstance, worth: InstanceWorth) => number)[] = [
  ({ config }) => -orderOf(config),
  (_, { open }) => Number(open > 0),
  ({ type }) => Number(type === apiType),
  (_, { last_used_at }) => last_used_at,
  (_, { persons }) => persons,
];

const unused: InstanceWorth = { open: 0, last_used_at: 0, persons: 0 };

/**
 * The order in which instances are brought up: as the operator says (`start_order`); then those where a turn is open or a reply waits, the API,
 * those that were used last, and those that more persons use.
 */
export function inOrderOfWorth(instances: readonly StoredInstance[], known: InstanceWorthFile): StoredInstance[] {
  const weighed = instances.map((instance) => {
    const worth = known[instance.id] ?? unused;
    return { instance, weights: measures.map((measure) => measure(instance, worth)) };
  });
  return weighed.toSorted((a, b) => firstDifference(b.weights, a.weights)).map(({ instance }) => instance);
}

const orderOf = ({ start_order: order }: StoredInstance['config']): number => (typeof order === 'number' ? order : middle);

const firstDifference = (a: readonly number[], b: readonly number[]): number =>
  a.map((weight, index) => weight - (b[index] ?? 0)).find((difference) => difference !== 0) ?? 0;
