import type { InstanceWorth, InstanceWorthFile } from '@svc/contract/instance-worth.ts';
import type { StoredInstance } from './instance-store.ts';

/** The `start_order` of configs that do not set it. */
const middle = 50;

/** The API that the operator's programs call. Unlike on a channel, no message is waiting there before the instance runs. */
const apiType = 'compat';

/** Compared in this order until one differs; the higher number starts first. Instances equal in all keep their order. */
const measures: readonly ((instance: StoredInstance, worth: InstanceWorth) => number)[] = [
  ({ config }) => -orderOf(config),
  (_, { open }) => Number(open > 0),
  ({ type }) => Number(type === apiType),
  (_, { last_used_at }) => last_used_at,
  (_, { persons }) => persons,
];

const unused: InstanceWorth = { open: 0, last_used_at: 0, persons: 0 };

/**
 * The order in which instances start: by `start_order`; then those with an open turn or a waiting reply, the API, those that were used most
 * recently, and those with more users.
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
