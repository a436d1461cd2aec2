import { isRecord } from '@svc/contract/json-value.ts';
import { holdsTools, objects, toolsIn, type Json } from './offered-tools.ts';

/** What a function's name in the flattened request stands for. */
export type ToolOrigin = { namespace?: string; name: string; custom: boolean };
export type ToolNames = Map<string, ToolOrigin>;

/**
 * Converts a request to one that any Responses server accepts. Tools in a namespace and free-text ("custom") tools become plain functions,
 * also in the history; tools that only the vendor hosts are left out.
 */
export function flattenTools(body: Json): { body: Json; names: ToolNames } {
  const names: ToolNames = new Map();
  const items = Array.isArray(body.input) ? body.input.filter(isRecord) : null;
  const tools = toolsIn(body).flatMap((tool) => flattenTool(tool, names));
  const input = items?.filter((item) => !holdsTools(item)).map(flattenItem) ?? body.input;
  // Some servers refuse an empty list, or a tool choice without a list.
  const { tools: _tools, tool_choice: choice, parallel_tool_calls: parallel, ...rest } = body;
  return {
    body: { ...rest, input, ...(tools.length > 0 && { tools, tool_choice: choice, parallel_tool_calls: parallel }) },
    names,
  };
}

/** Restores the original names of calls in a reply (an event or a whole response). Changes `value` in place. */
export function restoreCalls(value: unknown, names: ToolNames): void {
  if (Array.isArray(value)) {
    for (const entry of value) restoreCalls(entry, names);
  } else if (isRecord(value)) {
    const origin = value.type === 'function_call' ? names.get(String(value.name)) : undefined;
    if (origin) restoreCall(value, origin);
    for (const inner of Object.values(value)) restoreCalls(inner, names);
  }
}

function flattenTool(tool: Json, names: ToolNames, namespace?: string): Json[] {
  if (tool.type === 'namespace') return objects(tool.tools).flatMap((inner) => flattenTool(inner, names, String(tool.name)));
  if (tool.type !== 'function' && tool.type !== 'custom') return [];
  const origin = { ...(namespace !== undefined && { namespace }), name: String(tool.name), custom: tool.type === 'custom' };
  const name = joinName(namespace, origin.name);
  names.set(name, origin);
  // Ollama replaces two underscores by a dot.
  if (namespace !== undefined) names.set(`${namespace}.${origin.name}`, origin);
  const { defer_loading: _deferLoading, format: _format, ...rest } = tool;
  return [{ ...rest, type: 'function', name, ...(origin.custom && { parameters: freeText }) }];
}

const freeText = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The complete input of the tool as plain text.' } },
  required: ['input'],
};

function flattenItem(item: Json): Json {
  const { namespace, ...rest } = item;
  const name = joinName(typeof namespace === 'string' ? namespace : undefined, String(item.name));
  switch (item.type) {
    case 'function_call':
      return { ...rest, name };
    case 'custom_tool_call': {
      const { input, ...call } = rest;
      return { ...call, type: 'function_call', name, arguments: JSON.stringify({ input }) };
    }
    case 'custom_tool_call_output':
      return { ...item, type: 'function_call_output' };
    default:
      return item;
  }
}

function restoreCall(call: Json, { namespace, name, custom }: ToolOrigin): void {
  call.name = name;
  if (namespace !== undefined) call.namespace = namespace;
  if (!custom) return;
  call.type = 'custom_tool_call';
  call.input = inputOf(String(call.arguments ?? ''));
  delete call.arguments;
}

/** The text of `{ "input": "…" }`; anything else is taken as the text itself. */
function inputOf(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) && typeof value.input === 'string' ? value.input : text;
  } catch {
    return text;
  }
}

const joinName = (namespace: string | undefined, name: string) => (namespace === undefined ? name : `${namespace}__${name}`);
