import type { EngineRegistry } from './engine-registry.ts';
import { isEngineId } from './load-engine.ts';

/**
 * Removes for good what an engine keeps of a session on this machine. Of an engine that only another version has, nothing here knows where
 * it lies. Rejects when it could not be removed, with a reason that a person can act on.
 */
export async function forgetEngineSession(
  engines: Pick<EngineRegistry, 'open'>,
  id: string,
  engineSessionId: string,
): Promise<void> {
  if (!isEngineId(id)) return;
  const { engine } = await engines.open(id);
  await engine.forget?.(engineSessionId);
}
