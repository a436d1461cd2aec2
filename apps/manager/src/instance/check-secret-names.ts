import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import { looksSecret } from '@svc/service-kit/redaction/refuse-secret.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';

type Config = Readonly<Record<string, unknown>>;

/**
 * A field for the name of a secret must not contain the secret: it would be stored here, and shown to everyone who reads
 * the instance. A stored value is accepted. @throws ServiceError `bad_request` for a value that looks like a token or key
 */
export function checkSecretNames({ type, credentialKeys }: ConnectorMeta, config: Config, before: Config = {}): void {
  const fields = credentialKeys.filter((key) => config[key] !== before[key] && looksSecret(config[key]));
  if (fields.length === 0) return;
  const problem = 'looks like a secret, but must be the name of one';
  const named = fields.map((key) => ({ field: `config.${key}`, problem }));
  const text = named.map(({ field }) => `${field} ${problem}`).join('; ');
  throw badRequest(
    `The config is invalid for the type ${type}: ${text}. Store the secret with "./svc secret set NAME", and use its name here.`,
    { fields: named },
  );
}
