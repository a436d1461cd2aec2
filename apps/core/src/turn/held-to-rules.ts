import type { TurnDeps } from './turn-deps.ts';
import type { Turn } from './turn.ts';

/** The turn under the rules of its instance: public where the operator set that, whatever the connector says. */
export function heldToRules({ instanceRules }: Pick<TurnDeps, 'instanceRules'>, turn: Turn): Turn {
  const isPublic = instanceRules.of(turn.instanceId).public === true;
  return !isPublic || turn.envelope.public === true ? turn : { ...turn, envelope: { ...turn.envelope, public: true } };
}
