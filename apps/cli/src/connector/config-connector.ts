import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { Instance } from '@svc/contract/instance.ts';
import { CliError } from '../cli-error.ts';
import type { AddDeps } from './add-connector.ts';
import { awaitStart, startFault } from './await-start.ts';
import type { ConfigRequest } from './connector-command.ts';
import { fieldOf, parseFields } from './parse-fields.ts';
import { storeCredentials } from './store-credentials.ts';

/** Changes settings of an instance and checks that it still starts. All other settings stay as they are. */
export async function configConnector(
  deps: Omit<AddDeps, 'ask'>,
  instance: Instance,
  { set, unset, secrets }: ConfigRequest,
): Promise<Instance> {
  const { api } = deps;
  const meta = await metaOf(deps, instance);
  const changed = parseFields(meta, set);
  for (const name of unset) fieldOf(meta.type, meta.configSchema.properties, name);
  const config = { ...instance.config, ...Object.fromEntries(unset.map((name) => [name, null])), ...changed };
  const instances = secrets.length === 0 ? [] : await api.list();
  const names = await storeCredentials(deps, { meta, fields: secrets, instances, config });
  const after = await awaitStart(deps, await api.update(instance.id, { config: { ...config, ...names } }));
  const fault = startFault(after);
  if (fault === null) return after;
  throw new CliError(`the settings of ${after.id} are changed, and it does not start with them.`, {
    why: fault.why ?? undefined,
    run: `./svc connector config ${after.id}`,
  });
}

async function metaOf({ api }: Pick<AddDeps, 'api'>, { type }: Instance): Promise<ConnectorMeta> {
  const meta = (await api.types()).find((each) => each.type === type);
  if (meta !== undefined) return meta;
  throw new CliError(`the type "${type}" no longer exists.`, { why: 'Its folder is gone or broken.', run: './svc doctor' });
}
