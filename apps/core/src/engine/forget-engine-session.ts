import type { EngineRegistry } from './engine-registry.ts';
import { isEngineId } from './load-engine.ts';

/**
 * Permanently removes an engine's own record of a session on this machine. For an engine that only another version of the service has, the
 * place of its records is unknown. Rejects, with a reason that a person can act on, when the record could not be removed.
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
