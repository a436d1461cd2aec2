import { isRecord } from '@svc/contract/json-value.ts';
import type { ToolPolicy } from '@svc/contract/trust.ts';
import { objects, toolsIn, type Json } from './request-tools.ts';

/** Names of the tools that a Responses request offers the model, wherever in the request they stand. */
export function offeredTools(body: unknown): string[] {
  return isRecord(body) ? toolsIn(body).flatMap(namesOf) : [];
}

const namesOf = (tool: Json): string[] =>
  tool.type === 'namespace'
    ? objects(tool.tools).flatMap(namesOf)
    : [typeof tool.name === 'string' ? tool.name : String(tool.type)];

const readingTools = new Set(['exec_command', 'write_stdin', 'view_image']);

/** The offered tools that a policy forbids: all for talk, all but those that read in the sandbox for reading, other agents for everyone. */
export function forbiddenTools(policy: ToolPolicy, offered: readonly string[]): string[] {
  if (policy === 'none') return [...offered];
  if (policy === 'read') return offered.filter((name) => !readingTools.has(name));
  return offered.filter((name) => /agent/i.test(name));
}
