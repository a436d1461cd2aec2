import type { PartialEvent } from '@svc/contract/event.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import { createOutboundMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import { placeholder } from '@svc/service-kit/redaction/placeholder.ts';
import { BehindVault } from '@svc/service-kit/vault/behind-vault.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { SecretResolver } from './secrets.ts';

/** A value, or why there is none. `behindVault`: there may be one once the vault is open. */
export type SecretAnswer = { value: string | null; error: string | null; behindVault?: BehindVault };

/** Gives one instance the secrets that its config names in one of `keys`, and remembers them, so that they are masked in its output. */
export type InstanceSecrets = {
  /** Never rejects: an error is part of the answer. */
  answer(name: string, keys: readonly string[], config: Record<string, unknown>): Promise<SecretAnswer>;
  mask(text: string): string;
  /** Masks all secrets of this installation, not only its own: the instance may have read others somewhere. */
  maskEvent(event: PartialEvent): PartialEvent;
};

/** Shorter values would mask ordinary words. */
const shortestMasked = 6;
const maxKnown = 300;
/** Each may run a program. */
const maxAsked = 32;

/** `maskKnown` masks the known secrets of this installation, and throws when they are not known. */
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
      if (asked >= maxAsked) return { value: null, error: `This instance asks for more than ${maxAsked} secrets at once.` };
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

/** The forms in which a secret may occur in a line: as it is, inside JSON, and each of its own lines. */
const formsOf = (value: string): string[] =>
  [value, JSON.stringify(value).slice(1, -1), ...value.split('\n').map((line) => line.trim())].filter(
    (form) => form.length >= shortestMasked,
  );
