import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { Instance } from '@svc/contract/instance.ts';
import type { VaultSecretStored } from '@svc/contract/vault.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { askCore, askManager, type ServiceAnswer } from '../service-client.ts';
import { CliError, commandIn } from '../cli-error.ts';
import { coreUrl } from '../service-urls.ts';

export type InstanceLog = { at: number; stream: 'stdout' | 'stderr'; text: string };
type Changed = { instance: Instance };

/** The connector routes of the manager, and the secret routes of the core. Refusals are thrown as CliErrors. */
export type ConnectorApi = {
  types(): Promise<ConnectorMeta[]>;
  list(): Promise<Instance[]>;
  view(id: string): Promise<Instance>;
  create(body: NewInstance): Promise<Instance>;
  /** `config` replaces the stored one completely; null resets a setting to its default. */
  update(id: string, patch: { config: Record<string, unknown> }): Promise<Instance>;
  act(id: string, action: 'start' | 'stop' | 'restart'): Promise<Instance>;
  remove(id: string): Promise<void>;
  logs(id: string): Promise<InstanceLog[]>;
  /** Stores the value in the vault, or in the secrets file when there is none. */
  storeSecret(name: string, value: string): Promise<VaultSecretStored>;
};

type NewInstance = { type: string; name: string; config: Record<string, unknown>; enabled: boolean };

export function createConnectorApi(settings: CliSettings): ConnectorApi {
  const at = (id: string, route = '') => `/instances/${encodeURIComponent(id)}${route}`;

  return {
    async types() {
      const answer = await askManager<{ types: ConnectorMeta[] }>(settings, '/types');
      return orThrow('the connector types cannot be listed', answer, './svc doctor').types;
    },
    async list() {
      const answer = await askManager<{ instances: Instance[] }>(settings, '/instances');
      return orThrow('the connectors cannot be listed', answer, './svc doctor').instances;
    },
    async view(id) {
      return orThrow('it cannot be shown', await askManager<Changed>(settings, at(id))).instance;
    },
    async create(body) {
      return orThrow('nothing was added', await askManager<Changed>(settings, '/instances', body), './svc connector add')
        .instance;
    },
    async update(id, patch) {
      const answer = await askManager<Changed>(settings, at(id), patch, 'PATCH');
      return orThrow('nothing was changed', answer, `./svc connector config ${id}`).instance;
    },
    async act(id, action) {
      const answer = await askManager<Changed>(settings, at(id, `/${action}`), undefined, 'POST');
      const what = `it was not ${action === 'stop' ? 'stopped' : `${action}ed`}`;
      return orThrow(what, answer, `./svc connector logs ${id}`).instance;
    },
    async remove(id) {
      orThrow('nothing was removed', await askManager<object>(settings, at(id), undefined, 'DELETE'));
    },
    async logs(id) {
      return orThrow('there is no log', await askManager<{ logs: InstanceLog[] }>(settings, at(id, '/logs'))).logs;
    },
    async storeSecret(name, value) {
      const answer = await askCore<VaultSecretStored>(`${coreUrl(settings)}/v2/vault/secrets`, { body: { name, value } });
      if (answer.ok) return answer.body;
      const { message } = answer.body;
      throw new CliError('the secret was not stored.', { why: message, run: commandIn(message) ?? './svc secret' });
    },
  };
}

/** `run`: the command that helps when the manager's message names none. */
function orThrow<T>(what: string, answer: ServiceAnswer<T>, run = './svc connector'): T {
  if (answer.ok) return answer.body;
  const { message } = answer.body;
  if (answer.status === 401) throw new CliError(`${what}.`, { why: message, run: './svc doctor' });
  const usual = answer.status === 404 ? './svc connector' : run;
  throw new CliError(`${what}.`, { why: message, run: commandIn(message) ?? usual });
}
