import type { ToolServer } from '@svc/engine-kit/engine.ts';

/** The server that a name begins with, as in `server.tool`; null for a plain name. */
export function serverOf(name: string, servers: readonly Pick<ToolServer, 'name'>[]): string | null {
  return servers.find((server) => name.startsWith(`${server.name}.`))?.name ?? null;
}

/** The tool that is meant: by its full name, or by a plain one that only one server has. Else what to say instead. */
export function findTool<Tool extends { name: string; fullName: string }>(
  name: string,
  tools: readonly Tool[],
  others: readonly string[],
): { tool: Tool } | { answer: string } {
  const full = tools.find(({ fullName }) => fullName === name);
  if (full !== undefined) return { tool: full };
  const [tool, ...more] = tools.filter((one) => one.name === name);
  if (tool !== undefined && more.length === 0) return { tool };
  if (tool !== undefined) {
    return {
      answer: `Several tool servers have a tool "${name}". Say which: ${[tool, ...more].map(({ fullName }) => fullName).join(', ')}.`,
    };
  }
  const all = [...others, ...tools.map(({ fullName }) => fullName)].join(', ');
  return { answer: `There is no tool "${name}" in this turn. There is: ${all || 'none'}.` };
}
