import type { EngineTerminal } from '@svc/engine-kit/engine.ts';
import type { EngineRegistry } from './engine-registry.ts';
import { isEngineId } from './load-engine.ts';
import { noTerminal } from './no-terminal.ts';

/** How the program of an engine is run in a terminal, or why it is not. */
export async function programInTerminal(
  engines: Pick<EngineRegistry, 'open'>,
  id: string,
  resume: string | null,
): Promise<EngineTerminal | { problem: string }> {
  if (!isEngineId(id)) return { problem: `There is no engine "${id}".` };
  const { engine } = await engines.open(id);
  return (await engine.terminal?.({ resume })) ?? noTerminal(id);
}
