import type { ErrorBody } from '@svc/contract/error-body.ts';
import type { Erased, ErasurePlan } from '@svc/contract/erasure.ts';
import type { Invitation, NewInvitation } from '@svc/contract/pairing.ts';
import type { ExplainedIdentity, Grant, Identifier, Principal, Role, TrustChange } from '@svc/contract/trust.ts';
import { askCore } from '../service-client.ts';
import { CliError } from '../cli-error.ts';

export type Place = { surface?: string; conversation?: string };
export type NewRole = Pick<Role, 'name' | 'tier' | 'tool_policy'> & Partial<Omit<Role, 'id'>>;
type PrincipalPage = { principals: Principal[]; next: string | null };
export type Audit = { audit: TrustChange[]; next: number | null };

/** A refusal of the core; `body` is its answer, for programs. */
export class Refusal extends CliError {
  readonly body: ErrorBody;

  constructor(what: string, body: ErrorBody, run: string) {
    super(what, { why: body.message, run });
    this.body = body;
  }
}

/** The core's trust routes. A refusal is thrown as `Refusal`, with the core's message. */
export type TrustApi = {
  principals(): Promise<{ principals: Principal[] }>;
  principal(key: string): Promise<Principal>;
  roles(): Promise<{ roles: Role[] }>;
  /** Adds a role, or changes the existing one; omitted fields stay as they are. */
  saveRole(role: NewRole): Promise<Role>;
  removeRole(id: string): Promise<unknown>;
  add(key: string, displayName: string): Promise<Principal>;
  setStatus(key: string, status: Principal['status']): Promise<Principal>;
  remove(key: string): Promise<unknown>;
  /** What erasing a person would remove. `keepsShared`: conversations in which others also wrote stay. */
  erasurePlan(key: string, keepsShared: boolean): Promise<ErasurePlan>;
  erase(key: string, keepsShared: boolean): Promise<Erased>;
  link(key: string, surface: string, value: string): Promise<Identifier>;
  unlink(id: string): Promise<unknown>;
  /** `expiresAt`: epoch ms; null for a permanent grant. */
  grant(key: string, role: string, place: Place, expiresAt: number | null): Promise<Grant>;
  revoke(id: string): Promise<unknown>;
  /** Only this answer contains the code. */
  invite(invitation: InvitationRequest): Promise<NewInvitation>;
  invitations(): Promise<{ invitations: Invitation[] }>;
  uninvite(id: string): Promise<unknown>;
  /** Identifies a sender and explains their trust in a context. */
  explain(channel: string, value: string, context: ExplainContext): Promise<ExplainedIdentity>;
  /** The newest `limit` changes, of one person or of all. */
  audit(limit: number, key?: string): Promise<Audit>;
};

/** `expires_at`: epoch ms. */
export type InvitationRequest = { as?: string; name?: string; role?: string; surface?: string; expires_at?: number };
type ExplainContext = { public: boolean; conversation_key?: string };

export function createTrustApi(coreUrl: string): TrustApi {
  const ask = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await askCore<T>(`${coreUrl}/trust${path}`, { method, body });
    if (answer.ok) return answer.body;
    const what = method === 'GET' || path === '/resolve' ? 'that cannot be shown.' : 'nothing was changed.';
    throw new Refusal(what, answer.body, helpFor(answer.body, path));
  };
  const of = (key: string) => `/principals/${encodeURIComponent(key)}`;

  return {
    async principals() {
      const principals: Principal[] = [];
      for (let after: string | null = ''; after !== null;) {
        const page: PrincipalPage = await ask('GET', `/principals?after=${encodeURIComponent(after)}`);
        principals.push(...page.principals);
        after = page.next;
      }
      return { principals };
    },
    principal: (key) => ask<Principal>('GET', of(key)),
    roles: () => ask<{ roles: Role[] }>('GET', '/roles'),
    saveRole: (role) => ask<Role>('POST', '/roles', role),
    removeRole: (id) => ask('DELETE', `/roles/${encodeURIComponent(id)}`),
    add: (key, display_name) => ask<Principal>('POST', '/principals', { key, display_name }),
    setStatus: (key, status) => ask<Principal>('PATCH', of(key), { status }),
    remove: (key) => ask('DELETE', of(key)),
    erasurePlan: (key, keepsShared) => ask<ErasurePlan>('GET', `${of(key)}/erasure?keep_shared=${keepsShared ? 1 : 0}`),
    erase: (key, keepsShared) => ask<Erased>('POST', `${of(key)}/erase`, { keep_shared: keepsShared }),
    link: (key, surface, value) => ask<Identifier>('POST', `${of(key)}/identifiers`, { surface, value }),
    unlink: (id) => ask('DELETE', `/identifiers/${encodeURIComponent(id)}`),
    grant: (key, role_id, { surface, conversation }, expires_at) =>
      ask<Grant>('POST', `${of(key)}/grants`, {
        role_id,
        scope: {
          ...(surface !== undefined && { surface }),
          ...(conversation !== undefined && { conversation_key: conversation }),
        },
        expires_at,
      }),
    revoke: (id) => ask('DELETE', `/grants/${encodeURIComponent(id)}`),
    invite: (invitation) => ask<NewInvitation>('POST', '/invitations', invitation),
    invitations: () => ask<{ invitations: Invitation[] }>('GET', '/invitations'),
    uninvite: (id) => ask('DELETE', `/invitations/${encodeURIComponent(id)}`),
    explain: (channel, raw_id, context) =>
      ask<ExplainedIdentity>('POST', '/resolve', { channel, sender: { raw_id }, context, explain: true }),
    audit: (limit, key) =>
      ask<Audit>('GET', `/audit?limit=${limit}${key === undefined ? '' : `&principal=${encodeURIComponent(key)}`}`),
  };
}

const helpFor = ({ error, message }: ErrorBody, path: string): string => {
  if (error === 'not_found' && message.startsWith('There is no role')) return './svc role';
  if (error === 'bad_request' && path.startsWith('/roles')) return './svc role --help';
  if (path.startsWith('/invitations')) {
    if (error === 'bad_request') return './svc person invite --help';
    if (message.startsWith('There is no invitation')) return './svc person invite';
  }
  return error === 'bad_request' ? './svc person --help' : './svc person list';
};
