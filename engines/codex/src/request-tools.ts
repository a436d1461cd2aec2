import { isRecord } from '@svc/contract/json-value.ts';

export type Json = Record<string, unknown>;

/** The tools that a Responses request offers the model, wherever in the request they stand. */
export function toolsIn(body: Json): Json[] {
  const items = objects(body.input).filter(holdsTools);
  return [...objects(body.tools), ...items.flatMap((item) => objects(item.tools))];
}

/** Newer models get their tools as an item of the input. */
export const holdsTools = (item: Json): boolean => item.type === 'additional_tools';

/** The objects of a list; none of what is no list. */
export const objects = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isRecord) : []);
