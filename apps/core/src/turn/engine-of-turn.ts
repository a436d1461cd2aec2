import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { ActiveEngine } from '../engine/engine-pool.ts';
import { isEngineId } from '../engine/load-engine.ts';
import type { TurnDeps } from './turn-deps.ts';
import type { Turn } from './turn.ts';

/**
 * The engine that is asked first in a turn: the one of its instance, else the default.
 * @throws ServiceError `unprocessable` when the instance names one that no longer exists.
 */
export async function engineOfTurn(
  { engines, instanceRules }: Pick<TurnDeps, 'engines' | 'instanceRules'>,
  { instanceId }: Pick<Turn, 'instanceId'>,
): Promise<ActiveEngine> {
  const { engine: id, model } = instanceRules.of(instanceId);
  if (id === undefined) return engines.active();
  if (!isEngineId(id))
    throw new ServiceError(
      'unprocessable',
      `This connector is set to the engine "${id}", which does not exist. The operator can change it.`,
    );
  const active = await engines.open(id);
  const choice = { ...active.choice, why: 'It is set for this connector.', ...(model !== undefined && { model }) };
  return { ...active, choice };
}
