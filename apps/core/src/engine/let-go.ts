import type { EngineRegistry } from './engine-registry.ts';
import { isEngineId } from './load-engine.ts';

/** Another program continues an engine's session: a process kept open for it is closed, so that it cannot answer from outdated memory. */
export async function letGo(engines: Pick<EngineRegistry, 'open'>, id: string | null, engineSessionId: string): Promise<void> {
  if (id === null || !isEngineId(id)) return;
  const { engine } = await engines.open(id);
  await engine.letGo?.(engineSessionId);
}
