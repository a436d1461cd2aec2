import { isRecord } from '@svc/contract/json-value.ts';
import type { ToolPolicy } from '@svc/contract/trust.ts';

/** Names of the tools that a Responses request offers to the model, in any part of the request. */
export function offeredTools(body: unknown): string[] {
  return isRecord(body) ? toolsIn(body).flatMap(namesOf) : [];
}

const namesOf = (tool: Json): string[] =>
  tool.type === 'namespace'
    ? objects(tool.tools).flatMap(namesOf)
    : [typeof tool.name === 'string' ? tool.name : String(tool.type)];

const readingTools = new Set(['exec_command', 'write_stdin', 'view_image']);

/**
 * The offered tools that a policy forbids: for `none` all, for `read` all but those that read in the sandbox, for everyone other agents.
 */
export function forbiddenTools(policy: ToolPolicy, offered: readonly string[]): string[] {
  if (policy === 'none') return [...offered];
  if (policy === 'read') return offered.filter((name) => !readingTools.has(name));
  return offered.filter((name) => /agent/i.test(name));
}

export type Json = Record<string, unknown>;

/** The tools that a Responses request offers to the model, in any part of the request. */
export function toolsIn(body: Json): Json[] {
  const items = objects(body.input).filter(holdsTools);
  return [...objects(body.tools), ...items.flatMap((item) => objects(item.tools))];
}

/** Newer models receive their tools as an item of the input. */
export const holdsTools = (item: Json): boolean => item.type === 'additional_tools';

/** The objects of a list; an empty list for anything else. */
export const objects = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isRecord) : []);
