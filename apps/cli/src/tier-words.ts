import { InvalidArgumentError } from 'commander';
import { tierWords, type Tier, type ToolPolicy } from '@svc/contract/trust.ts';

/** The word for a tier in texts for people. */
export const tierWord = (tier: Tier): string => tierWords[tier];

/** What a person with a tool policy may do. */
export const mayDo: Readonly<Record<ToolPolicy, string>> = {
  none: 'may talk with the assistant',
  read: 'may let it look things up, not change anything',
  full: 'may let it do anything on this machine',
};

/** Parses a tier, by its word for people or its name in code. */
export const tierParser =
  <T extends Tier>(allowed: readonly T[]) =>
  (text: string): T => {
    const wanted = text.trim().toLowerCase();
    const found = allowed.find((tier) => tierWords[tier] === wanted || tier.toLowerCase() === wanted);
    if (found === undefined) throw new InvalidArgumentError('It takes owner, trusted, known or guest.');
    return found;
  };
