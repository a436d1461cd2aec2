import type { Intake } from '@svc/contract/envelope.ts';

const maxDebounceMs = 60_000;

/**
 * Config fields of every channel that people write to: spread into `configSchema.properties`. The kit adds their values to each envelope of
 * the instance.
 */
export const intakeConfig = {
  debounce_ms: {
    type: 'integer',
    title: 'Combine messages for (ms)',
    description:
      'Messages from one sender that follow each other within this time are answered together. 0 answers each separately.',
    default: 0,
    minimum: 0,
    maximum: maxDebounceMs,
  },
  pairing: {
    type: 'boolean',
    title: 'Offer pairing codes',
    description: 'A stranger who writes in private gets a code that you can use to let them in (./svc pair CODE).',
    default: true,
  },
  gather: {
    type: 'string',
    enum: ['sender', 'conversation'],
    title: 'Combine messages from',
    description:
      '"sender": each person separately. "conversation": messages of several people with the same rights in a room are answered together.',
    default: 'sender',
  },
  quiet_strangers: {
    type: 'boolean',
    title: 'Do not list strangers in public rooms',
    description: 'Unknown people who write in public are not listed among those waiting to be let in.',
    default: false,
  },
} as const;

/** How an instance wants its messages handled; undefined when its config does not say. */
export function intakeOf({ debounce_ms, pairing, gather, quiet_strangers }: Record<string, unknown>): Intake | undefined {
  const intake: Intake = {};
  if (isDebounce(debounce_ms)) intake.debounce_ms = debounce_ms;
  if (pairing === true) intake.pairing = true;
  if (gather === 'conversation') intake.gather = gather;
  if (quiet_strangers === true) intake.quiet_strangers = true;
  return Object.keys(intake).length === 0 ? undefined : intake;
}

const isDebounce = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= maxDebounceMs;
