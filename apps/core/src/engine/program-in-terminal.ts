import type { EngineTerminal, TerminalRequest } from '@svc/engine-kit/engine.ts';
import type { EngineRegistry } from './engine-registry.ts';
import { letGo } from './let-go.ts';
import { isEngineId } from './load-engine.ts';
import { noTerminal } from './no-terminal.ts';

/** How to run the program of an engine in a terminal, or why that is impossible. */
export async function programInTerminal(
  engines: Pick<EngineRegistry, 'open'>,
  id: string,
  { resume, cwd }: Omit<TerminalRequest, 'model'>,
): Promise<EngineTerminal | { problem: string }> {
  if (!isEngineId(id)) return { problem: `There is no engine "${id}".` };
  if (resume !== null) await letGo(engines, id, resume);
  const { engine, choice } = await engines.open(id);
  return (await engine.terminal?.({ resume, cwd, model: choice.model })) ?? noTerminal(id);
}
