import type { TurnDeps } from './turn-deps.ts';
import type { Turn } from './turn.ts';

/** The turn as its instance is set: public where the operator says so, whatever its connector says. */
export function heldToRules({ instanceRules }: Pick<TurnDeps, 'instanceRules'>, turn: Turn): Turn {
  const isPublic = instanceRules.of(turn.instanceId).public === true;
  return !isPublic || turn.envelope.public === true ? turn : { ...turn, envelope: { ...turn.envelope, public: true } };
}
