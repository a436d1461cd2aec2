import type { EngineRegistry } from './engine-registry.ts';
import { isEngineId } from './load-engine.ts';

/** Another program goes on with a session of an engine: what is kept open between turns is closed, before it answers from what it remembers. */
export async function letGo(engines: Pick<EngineRegistry, 'open'>, id: string | null, engineSessionId: string): Promise<void> {
  if (id === null || !isEngineId(id)) return;
  const { engine } = await engines.open(id);
  await engine.letGo?.(engineSessionId);
}
