import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { Instance } from '@svc/contract/instance.ts';
import { CliError } from '../cli-error.ts';
import { visible } from '../terminal.ts';
import type { SecretInput } from '../vault/secret-input.ts';
import { askFields, missingFields, type Ask } from './ask-fields.ts';
import { awaitStart, isStarting, startFault } from './await-start.ts';
import type { ConnectorApi } from './connector-api.ts';
import type { AddRequest } from './connector-command.ts';
import { parseFields } from './parse-fields.ts';
import { storeCredentials } from './store-credentials.ts';

export type AddDeps = {
  api: ConnectorApi;
  input: SecretInput;
  ask: Ask;
  /** How the owner gets access on the new channel; null when there is nothing to do. */
  inviteOwner(instance: Instance): Promise<string | null>;
  say: (text: string) => void;
  pause: () => Promise<void>;
};

/**
 * Adds an instance and starts it, which tests its credentials: only the connector can try them. One
 * that does not start is removed again, with the reason, unless `keep` is set.
 */
export async function addConnector(deps: AddDeps, type: string, request: AddRequest): Promise<Instance> {
  const { api, say } = deps;
  const meta = pickType(await api.types(), type);
  const config = await fillConfig(deps, meta, request);
  const created = await api.create({ type, name: request.name ?? type, config, enabled: !request.off });
  if (isStarting(created)) say(`Testing whether ${created.id} works …`);
  const instance = await awaitStart(deps, created);
  const fault = startFault(instance);
  if (fault === null) {
    if (typeof instance.first_steps === 'string') say(visible(instance.first_steps));
    const invitation = instance.status === 'running' ? await deps.inviteOwner(instance) : null;
    if (invitation !== null) say(visible(invitation));
    return instance;
  }
  if (request.keep) throw fault;
  await api.remove(instance.id);
  throw new CliError('nothing was added, because it does not work.', {
    why: `${fault.why}\nTo keep it anyway, add --keep.`,
  });
}

function pickType(types: readonly ConnectorMeta[], type: string): ConnectorMeta {
  const meta = types.find((each) => each.type === type);
  if (meta !== undefined) return meta;
  const known = types.map((each) => each.type).join(', ');
  throw new CliError(`there is no connector type "${type}".`, {
    why: `There are ${known}. "./svc doctor" says what is wrong with a folder that cannot be used.`,
    run: './svc connector add',
  });
}

async function fillConfig(deps: AddDeps, meta: ConnectorMeta, { set, secrets }: AddRequest): Promise<Record<string, unknown>> {
  const config = parseFields(meta, set);
  const given = [...Object.keys(config), ...secrets];
  const isAsking = deps.input.isTerminal;
  if (isAsking) Object.assign(config, parseFields(meta, await askFields(meta, missingFields(meta, given), deps.ask)));
  const required = meta.credentialKeys.filter((key) => meta.configSchema.required?.includes(key) && !given.includes(key));
  const fields = [...secrets, ...(isAsking ? required : [])];
  const instances = fields.length === 0 ? [] : await deps.api.list();
  const filled = { ...config, ...(await storeCredentials(deps, { meta, fields, instances, config })) };
  checkNothingMissing(meta, filled);
  return filled;
}

/** When nobody can be asked, names each required field with its option. */
function checkNothingMissing({ type, configSchema, credentialKeys }: ConnectorMeta, config: Record<string, unknown>): void {
  const required = configSchema.required ?? [];
  const missing = required.filter((name) => !(name in config) && configSchema.properties[name]?.default === undefined);
  if (missing.length === 0) return;
  const secrets = missing.filter((name) => credentialKeys.includes(name));
  const options = missing.map((name) => (secrets.includes(name) ? `--secret ${name}` : `--set ${name}=VALUE`));
  const pipe = secrets.length === 0 ? '' : `printf '%s\\n' ${secrets.map(() => '"$VALUE"').join(' ')} | `;
  throw new CliError(`nothing was added: ${type} needs ${missing.join(', ')}.`, {
    why: secrets.length === 0 ? undefined : 'The value of a credential is typed in a terminal, or piped in, a line each.',
    run: `${pipe}./svc connector add ${type} ${options.join(' ')}`,
  });
}
