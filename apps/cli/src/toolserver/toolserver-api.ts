import type { Instance } from '@svc/contract/instance.ts';
import type { InstanceCallAnswer } from '@svc/contract/instance-call.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { CliError } from '../cli-error.ts';
import { createConnectorApi } from '../connector/connector-api.ts';
import { pickInstance } from '../connector/pick-instance.ts';
import { askManager } from '../service-client.ts';

/** The connector type of the MCP server, which is also the surface of its clients. */
export const toolserverType = 'toolserver';

/** A program that was approved, or registered by the operator. Times are epoch ms. */
export type ListedClient = {
  client_id: string;
  client_name: string;
  user_id: string;
  by: 'operator' | 'itself';
  approved_at: number | null;
};
/** A program whose page is open. */
export type WaitingClient = Pick<ListedClient, 'client_id' | 'client_name' | 'user_id'> & {
  redirect_to: string;
  person: string | null;
};
export type Approval = { code: string; expires_in_s: number; waiting: WaitingClient[] };
export type Clients = { clients: ListedClient[]; waiting: WaitingClient[] };

/** The named MCP server, or the only one. @throws CliError when there is none, or several */
export async function findToolserver(settings: CliSettings, name: string | undefined): Promise<Instance> {
  const instances = (await createConnectorApi(settings).list()).filter(({ type }) => type === toolserverType);
  if (name !== undefined) return pickInstance(instances, name);
  const [only, ...more] = instances;
  if (only === undefined) throw new CliError('there is no MCP server.', { run: `./svc connector add ${toolserverType}` });
  if (more.length === 0) return only;
  const ids = instances.map(({ id }) => id).join(', ');
  throw new CliError('there are several MCP servers.', { why: `Choose one with --connector: ${ids}.` });
}

/** Calls the running connector. @throws CliError with the connector's message */
export async function callToolserver<Result>(
  settings: CliSettings,
  { id }: Instance,
  method: string,
  params: object = {},
): Promise<Result> {
  const answer = await askManager<InstanceCallAnswer>(settings, `/instances/${encodeURIComponent(id)}/call`, { method, params });
  if (answer.ok) return answer.body.result as Result;
  throw new CliError('nothing was changed.', { why: answer.body.message, run: './svc connector' });
}
