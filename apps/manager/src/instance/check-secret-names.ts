import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import { looksSecret } from '@svc/service-kit/redaction/refuse-secret.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';

type Config = Readonly<Record<string, unknown>>;

/**
 * A field that names a secret must not hold the secret: it would be stored here, and shown to whoever reads the instance.
 * What is stored already stays. @throws ServiceError `bad_request` for what has the form of a token or key
 */
export function checkSecretNames({ type, credentialKeys }: ConnectorMeta, config: Config, before: Config = {}): void {
  const fields = credentialKeys.filter((key) => config[key] !== before[key] && looksSecret(config[key]));
  if (fields.length === 0) return;
  const problem = 'looks like a secret, and takes the name of one';
  const named = fields.map((key) => ({ field: `config.${key}`, problem }));
  const text = named.map(({ field }) => `${field} ${problem}`).join('; ');
  throw badRequest(
    `The config does not fit the type ${type}: ${text}. Keep the secret with "./svc secret set NAME", and give its name here.`,
    { fields: named },
  );
}
