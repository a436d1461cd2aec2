import type { CallToolResult } from '@modelcontextprotocol/client';
import type { ToolOutcome } from './messages.ts';

const maxOutput = 1024 * 1024;

/** What a tool gave, as text: images and the like by name. */
export function outputText({ content, structuredContent, isError }: CallToolResult): ToolOutcome {
  const parts = content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`));
  const text = parts.length === 0 && structuredContent !== undefined ? JSON.stringify(structuredContent) : parts.join('\n');
  return { ok: isError !== true, output: text.slice(0, maxOutput) };
}
