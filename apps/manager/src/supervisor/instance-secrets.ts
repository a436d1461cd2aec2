import type { PartialEvent } from '@svc/contract/event.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import { createOutboundMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import { placeholder } from '@svc/service-kit/redaction/placeholder.ts';
import { BehindVault } from '@svc/service-kit/vault/behind-vault.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { SecretResolver } from './secrets.ts';

/** A value, or why there is none. `behindVault`: there may be one as soon as the vault is open. */
export type SecretAnswer = { value: string | null; error: string | null; behindVault?: BehindVault };

/** Gives one instance the secrets that its config names in one of `keys`, and knows them, so that they are masked in what it says. */
export type InstanceSecrets = {
  /** Never rejects: what is wrong is the answer. */
  answer(name: string, keys: readonly string[], config: Record<string, unknown>): Promise<SecretAnswer>;
  mask(text: string): string;
  /** Without its own secrets, and without those of others that this installation knows: it may have read them anywhere. */
  maskEvent(event: PartialEvent): PartialEvent;
};

/** Shorter values would mask ordinary words. */
const shortestMasked = 6;
const maxKnown = 300;
/** Each may be a program that is run. */
const maxAsked = 32;

/** `maskKnown` takes out what this installation knows to be secret, and throws when that is not known. */
export function createInstanceSecrets(secrets: SecretResolver, maskKnown: (text: string) => string): InstanceSecrets {
  const known = new Set<string>();
  // One secret may be the beginning of another.
  let longestFirst: string[] = [];
  let asked = 0;

  function learn(value: string): void {
    for (const form of formsOf(value)) {
      known.delete(form);
      known.add(form);
    }
    forgetOldest(known, maxKnown);
    longestFirst = [...known].sort((a, b) => b.length - a.length);
  }

  function mask(text: string): string {
    return longestFirst.reduce((masked, value) => masked.replaceAll(value, placeholder), text);
  }

  const maskAll = createOutboundMask((text) => maskKnown(mask(text)));

  return {
    async answer(name, keys, config) {
      if (!keys.some((key) => config[key] === name)) {
        return {
          value: null,
          error: `The config of this instance does not name the secret "${name}" in ${keys.join(', ') || 'any field'}.`,
        };
      }
      if (asked >= maxAsked) return { value: null, error: `It asks for more than ${maxAsked} secrets at once.` };
      asked++;
      try {
        const value = await secrets.resolve(name);
        learn(value);
        return { value, error: null };
      } catch (error) {
        return { value: null, error: errorText(error), ...(error instanceof BehindVault && { behindVault: error }) };
      } finally {
        asked--;
      }
    },
    mask,
    maskEvent(event) {
      try {
        return maskAll.write(event).value;
      } catch {
        return { kind: 'error', payload: { left_out: 'it could not be masked' } };
      }
    },
  };
}

/** As a secret may stand in a line: by itself, inside JSON, and each of its own lines. */
const formsOf = (value: string): string[] =>
  [value, JSON.stringify(value).slice(1, -1), ...value.split('\n').map((line) => line.trim())].filter(
    (form) => form.length >= shortestMasked,
  );
