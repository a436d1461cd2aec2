import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { SecretResolver } from './secrets.ts';

/** Gives one instance the secrets its config names, and knows them, so that they are masked in its log. */
export type SecretDesk = {
  /** Never rejects: what is wrong is the answer. */
  answer(name: string, config: Record<string, unknown>): Promise<{ value: string | null; error: string | null }>;
  mask(text: string): string;
};

/** Shorter values would mask ordinary words. */
const shortestMasked = 6;
const maxKnown = 100;

export function createSecretDesk({ credentialKeys }: ConnectorMeta, secrets: SecretResolver): SecretDesk {
  const known = new Map<string, string>();
  return {
    async answer(name, config) {
      if (!credentialKeys.some((key) => config[key] === name)) {
        return {
          value: null,
          error: `The config of this instance does not name the secret "${name}" in ${credentialKeys.join(', ') || 'any field'}.`,
        };
      }
      try {
        const value = await secrets.resolve(name);
        // As it may stand in a line: by itself, or inside JSON.
        for (const form of [value, JSON.stringify(value).slice(1, -1)]) {
          if (form.length >= shortestMasked && known.size < maxKnown) known.set(form, name);
        }
        return { value, error: null };
      } catch (error) {
        return { value: null, error: errorText(error) };
      }
    },
    mask(text) {
      let masked = text;
      for (const [value, name] of known) masked = masked.replaceAll(value, `[redacted:${name}]`);
      return masked;
    },
  };
}
