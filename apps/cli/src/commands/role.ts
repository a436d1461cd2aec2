import type { Role } from '@svc/contract/trust.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { CliError } from '../cli-error.ts';
import { repositoryRoot } from '../repository-root.ts';
import type { RoleRequest } from '../role/role-command.ts';
import { coreUrl } from '../service-urls.ts';
import { createStyle, print } from '../terminal.ts';
import { renderRoles } from '../trust/render-trust.ts';
import { createTrustApi, Refusal, type NewRole, type TrustApi } from '../trust/trust-api.ts';

type Shown = { body: unknown; text: string };
type Of<Action> = Extract<RoleRequest, { action: Action }>;

/** Lists and changes the roles that people can have. */
export async function role(request: RoleRequest): Promise<number> {
  try {
    const { body, text } = await perform(createTrustApi(coreUrl(loadSettings(repositoryRoot))), request);
    print(request.json === true ? JSON.stringify(body, null, 2) : text);
    return exitCodes.ok;
  } catch (error) {
    if (request.json !== true || !(error instanceof Refusal)) throw error;
    print(JSON.stringify(error.body, null, 2));
    return exitCodes.failed;
  }
}

async function perform(api: TrustApi, request: RoleRequest): Promise<Shown> {
  switch (request.action) {
    case 'list': {
      const body = await api.roles();
      return { body, text: renderRoles(body.roles, createStyle(process.stdout)) };
    }
    case 'add':
      return add(api, request);
    case 'set':
      return set(api, request);
    case 'remove': {
      const { id } = await findRole(api, request.name);
      return { body: await api.removeRole(id), text: `The role ${request.name} is deleted.` };
    }
  }
}

/** The core would treat it as a change of the existing role. */
async function add(api: TrustApi, { name, tier, tools, ...facts }: Of<'add'>): Promise<Shown> {
  const { roles } = await api.roles();
  if (roles.some((known) => known.name === name))
    throw new CliError(`there is a role "${name}" already.`, { run: `./svc role set ${name} --help` });
  const body = await api.saveRole({ name, tier, tool_policy: tools, ...toFacts(facts) });
  return { body, text: `${shown(body)}\nGive it to a person: ./svc person grant KEY ${name}` };
}

async function set(api: TrustApi, { name, tier, tools, ...facts }: Of<'set'>): Promise<Shown> {
  const was = await findRole(api, name);
  const change = toFacts(facts);
  if (tier === undefined && tools === undefined && Object.keys(change).length === 0)
    throw new CliError('no change was given.', { why: 'Name at least one option.', run: './svc role set --help' });
  const body = await api.saveRole({ name, tier: tier ?? was.tier, tool_policy: tools ?? was.tool_policy, ...change });
  return { body, text: `${shown(body)}\nIt applies immediately, for everyone who has it.` };
}

async function findRole(api: TrustApi, name: string): Promise<Role> {
  const { roles } = await api.roles();
  const found = roles.find((known) => known.name === name);
  if (found !== undefined) return found;
  throw new CliError(`there is no role "${name}".`, {
    why: `The roles are: ${roles.map((known) => known.name).join(', ')}`,
    run: './svc role',
  });
}

const shown = (saved: Role): string => renderRoles([saved], createStyle(process.stdout)).trimStart();

function toFacts({
  channels,
  toolServers,
  asks,
  about,
}: Pick<Of<'add'>, 'channels' | 'toolServers' | 'asks' | 'about'>): Partial<NewRole> {
  return {
    ...(channels === undefined ? {} : { surfaces: namesOf(channels) }),
    ...(toolServers === undefined ? {} : { tool_servers: toolServers === 'none' ? [] : namesOf(toolServers) }),
    ...(asks === undefined ? {} : { asks }),
    ...(about === undefined ? {} : { description: about }),
  };
}

const namesOf = (list: string): string[] | '*' =>
  list === 'all' || list === '*'
    ? '*'
    : list
        .split(',')
        .map((name) => name.trim())
        .filter(Boolean);
