import { personaTiers, type PersonaTier } from '@svc/contract/persona.ts';
import { InvalidArgumentError } from 'commander';

const words: Record<PersonaTier, string> = { GUEST: 'guest', KNOWN: 'known', TRUSTED: 'trusted', SACRED: 'owner' };

export const tierWord = (tier: PersonaTier): string => words[tier];

/** A tier as people say it, or by its name. */
export function parsePersonaTier(text: string): PersonaTier {
  const wanted = text.trim().toLowerCase();
  const found = personaTiers.find((tier) => words[tier] === wanted || tier.toLowerCase() === wanted);
  if (found === undefined) throw new InvalidArgumentError('It takes owner, trusted, known or guest.');
  return found;
}
