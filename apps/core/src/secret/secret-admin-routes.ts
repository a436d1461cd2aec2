import type { SecretPlace, SecretRemoved } from '@svc/contract/secret.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { conflict, notFound } from '@svc/service-kit/service-error.ts';
import type { RecordChange } from '../trust/record-change.ts';
import type { ListSecrets } from './secret-list.ts';
import type { Secrets } from './secrets.ts';

type Deps = {
  secrets: Secrets;
  listSecrets: ListSecrets;
  record: RecordChange;
  env: Readonly<Record<string, string | undefined>>;
};

/** The secrets file may contain any name, even one that would be rejected today. */
const byName = { type: 'object', required: ['name'], properties: { name: { type: 'string', maxLength: 1024 } } } as const;
const fromPlace = { type: 'object', additionalProperties: false, properties: { from: { enum: ['vault', 'file'] } } } as const;
type Removal = { Params: { name: string }; Querystring: { from?: 'vault' | 'file' } };

/** What the operator sees of secrets and can remove. Values are stored with `POST /v2/vault/secrets`, and never returned. */
export function mountSecretAdminRoutes(app: App, { secrets, listSecrets, record, env }: Deps): void {
  app.get('/v2/secrets', () => listSecrets());

  app.delete<Removal>(
    '/v2/secrets/:name',
    { schema: { params: byName, querystring: fromPlace } },
    async ({ params: { name }, query: { from }, actor }): Promise<SecretRemoved> => {
      const removed_from = await secrets.remove(name, from);
      const still_in: SecretPlace[] = (env[name] ?? '') !== '' && Object.hasOwn(env, name) ? ['environment'] : [];
      if (removed_from.length === 0) throw still_in.length === 0 ? notFound('secret', name) : inEnvironment(name);
      await record({ actor, what: 'secret_removed', principal: null, before: { name, removed_from }, after: null });
      return { ok: true, name, removed_from, still_in };
    },
  );
}

const inEnvironment = (name: string) =>
  conflict(`${name} is set in the environment of the service. Remove it there, and start the service again.`);
