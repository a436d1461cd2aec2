import type { Instance } from '@svc/contract/instance.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { CliError } from '../cli-error.ts';
import { createConnectorApi } from '../connector/connector-api.ts';
import { coreUrl } from '../service-urls.ts';
import { repositoryRoot } from '../repository-root.ts';
import { createStyle, print } from '../terminal.ts';
import { linksFor, renderInvitation, renderInvitations } from '../trust/invite.ts';
import { renderErased, renderErasurePlan } from '../trust/render-erasure.ts';
import { findGrant, findIdentifier } from '../trust/find-in-principal.ts';
import { renderAudit, renderExplanation, renderGrant, renderPrincipals } from '../trust/render-trust.ts';
import { createTrustApi, Refusal, type TrustApi } from '../trust/trust-api.ts';
import type { TrustRequest } from '../trust/person-command.ts';

/** The result of a command: `body` for programs, `text` for people. */
type Shown = { body: unknown; text: string };
type Of<Action> = Extract<TrustRequest, { action: Action }>;

/** Lists, changes or explains who is trusted. */
export async function trust(request: TrustRequest): Promise<number> {
  const isJson = request.json === true;
  try {
    const { body, text } = await perform(createTrustApi(coreUrl(loadSettings(repositoryRoot))), request, Date.now());
    print(isJson ? JSON.stringify(body, null, 2) : text);
    return exitCodes.ok;
  } catch (error) {
    if (!isJson || !(error instanceof Refusal)) throw error;
    print(JSON.stringify(error.body, null, 2));
    return exitCodes.failed;
  }
}

async function perform(api: TrustApi, request: TrustRequest, now: number): Promise<Shown> {
  const style = createStyle(process.stdout);
  switch (request.action) {
    case 'list': {
      const body = await api.principals();
      return { body, text: renderPrincipals(body.principals, now, style) };
    }
    case 'add':
      return add(api, request);
    case 'enable':
    case 'disable': {
      const body = await api.setStatus(request.key, request.action === 'enable' ? 'active' : 'disabled');
      return {
        body,
        text: request.action === 'enable' ? `"${body.key}" is let in again.` : `"${body.key}" is denied from now on.`,
      };
    }
    case 'remove': {
      const body = await api.remove(request.key);
      return { body, text: `"${request.key}" is removed, with all names and roles.` };
    }
    case 'erase':
      return erase(api, request);
    case 'link': {
      const body = await api.link(request.key, request.surface, request.value);
      return { body, text: `"${request.key}" is known as ${body.surface} ${body.value}.` };
    }
    case 'unlink':
      return unlink(api, request);
    case 'grant': {
      const body = await api.grant(request.key, request.role, request, request.until ?? null);
      return { body, text: `"${request.key}" has the role ${renderGrant(body, now, style)}. It applies immediately.` };
    }
    case 'revoke':
      return revoke(api, request);
    case 'invite':
      return invite(api, request);
    case 'uninvite': {
      const body = await api.uninvite(request.id);
      return { body, text: `The code of ${request.id} no longer works.` };
    }
    case 'explain': {
      const context = {
        public: request.public === true,
        ...(request.key === undefined ? {} : { conversation_key: request.key }),
      };
      const body = await api.explain(request.surface, request.value, context);
      return { body, text: renderExplanation(body, now, style) };
    }
    case 'audit': {
      const body = await api.audit(request.lines, request.key);
      return { body, text: renderAudit(body.audit, style) };
    }
  }
}

/** The role is looked up first: a typing error in its name must not leave a person without it. */
async function add(api: TrustApi, { key, name, role }: Of<'add'>): Promise<Shown> {
  if (role !== undefined) {
    const { roles } = await api.roles();
    const names = roles.map((known) => known.name);
    if (!names.includes(role)) {
      throw new CliError(`there is no role "${role}".`, { why: `The roles are: ${names.join(', ')}`, run: './svc role' });
    }
  }
  const made = await api.add(key, name);
  if (role !== undefined) await api.grant(key, role, {}, null);
  const next = `Say by what name they write: ./svc person link ${key} CHANNEL VALUE`;
  const has = role === undefined ? 'without a role, so they are still denied' : `with the role ${role}`;
  return { body: role === undefined ? made : await api.principal(key), text: `"${key}" is added ${has}.\n${next}` };
}

/** Nothing is removed before the operator has seen what would be removed. */
async function erase(api: TrustApi, { key, keepShared = false, yes = false }: Of<'erase'>): Promise<Shown> {
  if (yes) {
    const body = await api.erase(key, keepShared);
    return { body, text: renderErased(body) };
  }
  const body = await api.erasurePlan(key, keepShared);
  return { body, text: renderErasurePlan(body, keepShared) };
}

async function invite(api: TrustApi, { key, name, role, surface, until }: Of<'invite'>): Promise<Shown> {
  const style = createStyle(process.stdout);
  if ((key ?? name ?? role ?? surface ?? until) === undefined) {
    const body = await api.invitations();
    return { body, text: renderInvitations(body.invitations, style) };
  }
  const made = await api.invite({ as: key, name, role, surface, expires_at: until });
  const links = linksFor(made, await instances());
  return { body: { ...made, links }, text: renderInvitation(made, links, style) };
}

/** Links need the manager; the code works without it. */
const instances = (): Promise<Instance[]> =>
  createConnectorApi(loadSettings(repositoryRoot))
    .list()
    .catch(() => []);

async function unlink(api: TrustApi, { keyOrId, surface, value }: Of<'unlink'>): Promise<Shown> {
  const id =
    surface === undefined || value === undefined ? keyOrId : findIdentifier(await api.principal(keyOrId), surface, value).id;
  return {
    body: await api.unlink(id),
    text: `${surface === undefined ? id : `${surface} ${value}`} belongs to nobody from now on.`,
  };
}

async function revoke(api: TrustApi, { keyOrId, role, ...place }: Of<'revoke'>): Promise<Shown> {
  const id = role === undefined ? keyOrId : findGrant(await api.principal(keyOrId), role, place).id;
  const text = role === undefined ? `${id} is revoked.` : `"${keyOrId}" no longer has the role ${role} there.`;
  return { body: await api.revoke(id), text };
}
