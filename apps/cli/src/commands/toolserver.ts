import type { Instance } from '@svc/contract/instance.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { CliError } from '../cli-error.ts';
import { repositoryRoot } from '../repository-root.ts';
import { coreUrl } from '../service-urls.ts';
import { createStyle, print } from '../terminal.ts';
import { renderApproval, renderClients } from '../toolserver/render-toolserver.ts';
import { callToolserver, findToolserver, toolserverType, type Approval, type Clients } from '../toolserver/toolserver-api.ts';
import type { ToolserverRequest } from '../toolserver/toolserver-command.ts';
import { createTrustApi } from '../trust/trust-api.ts';

/** Lists the programs that connect over MCP, approves one, or revokes its access. */
export async function toolserver(request: ToolserverRequest): Promise<number> {
  const settings = loadSettings(repositoryRoot);
  const instance = await findToolserver(settings, request.connector);
  const { body, text } = await perform(settings, instance, request);
  print(request.json === true ? JSON.stringify(body, null, 2) : text);
  return exitCodes.ok;
}

async function perform(
  settings: CliSettings,
  instance: Instance,
  request: ToolserverRequest,
): Promise<{ body: unknown; text: string }> {
  const style = createStyle(process.stdout);
  if (request.action === 'approve') {
    const { as = null, client } = request;
    const body = await approve(settings, instance, { as, client });
    return { body: { ...body, as }, text: renderApproval(body, as, style) };
  }
  const known = await callToolserver<Clients>(settings, instance, 'clients');
  if (request.action === 'clients') return { body: known, text: renderClients(known, Date.now(), style) };
  const id = findClient(known, request.client);
  const body = await callToolserver<object>(settings, instance, 'revoke', { client_id: id });
  return { body, text: `The access of ${id} has ended.` };
}

type Purpose = { as: string | null; client: string | undefined };

/** A code that approves a program. With a person, only the program on whose page it is typed will act for them. */
async function approve(settings: CliSettings, instance: Instance, { as, client }: Purpose): Promise<Approval> {
  const ask = (more: object) =>
    callToolserver<Approval>(settings, instance, 'approve', { ...(client !== undefined && { client_id: client }), ...more });
  if (as === null) return ask({});
  const trust = createTrustApi(coreUrl(settings));
  const { code, invitation } = await trust.invite({ as, surface: toolserverType });
  try {
    return await ask({ invitation: code, principal: invitation.principal });
  } catch (error) {
    await trust.uninvite(invitation.id); // nobody would ever say it
    throw error;
  }
}

function findClient({ clients }: Clients, named: string): string {
  const byId = clients.find(({ client_id: id }) => id === named);
  if (byId !== undefined) return byId.client_id;
  const [only, ...more] = clients.filter(({ client_name: name }) => name === named);
  if (only !== undefined && more.length === 0) return only.client_id;
  const why =
    only === undefined ? undefined : `Several have this name: ${[only, ...more].map(({ client_id: id }) => id).join(', ')}.`;
  throw new CliError(`no single program is called "${named}".`, { ...(why !== undefined && { why }), run: './svc toolserver' });
}
