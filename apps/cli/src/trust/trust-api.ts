import type { ErrorBody } from '@svc/contract/error-body.ts';
import type { ExplainedIdentity, Grant, Identifier, Principal, Role, TrustChange } from '@svc/contract/trust.ts';
import { askCore } from '../service-client.ts';
import { CliError } from '../cli-error.ts';

export type Place = { surface?: string; conversation?: string };
type PrincipalPage = { principals: Principal[]; next: string | null };
export type Audit = { audit: TrustChange[]; next: number | null };

/** The core has refused; `body` is its answer, for programs to read. */
export class Refusal extends CliError {
  readonly body: ErrorBody;

  constructor(what: string, body: ErrorBody, run: string) {
    super(what, { why: body.message, run });
    this.body = body;
  }
}

/** The core's trust routes. A refusal is thrown with the core's own words. */
export function createTrustApi(coreUrl: string) {
  const ask = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await askCore<T>(`${coreUrl}/trust${path}`, { method, body });
    if (answer.ok) return answer.body;
    const what = method === 'GET' || path === '/resolve' ? 'that cannot be told.' : 'nothing was changed.';
    throw new Refusal(what, answer.body, helpFor(answer.body));
  };
  const of = (key: string) => `/principals/${encodeURIComponent(key)}`;

  return {
    async principals(): Promise<{ principals: Principal[] }> {
      const principals: Principal[] = [];
      for (let after: string | null = ''; after !== null;) {
        const page: PrincipalPage = await ask('GET', `/principals?after=${encodeURIComponent(after)}`);
        principals.push(...page.principals);
        after = page.next;
      }
      return { principals };
    },
    principal: (key: string) => ask<Principal>('GET', of(key)),
    roles: () => ask<{ roles: Role[] }>('GET', '/roles'),
    add: (key: string, display_name: string) => ask<Principal>('POST', '/principals', { key, display_name }),
    setStatus: (key: string, status: Principal['status']) => ask<Principal>('PATCH', of(key), { status }),
    remove: (key: string) => ask('DELETE', of(key)),
    link: (key: string, surface: string, value: string) => ask<Identifier>('POST', `${of(key)}/identifiers`, { surface, value }),
    unlink: (id: string) => ask('DELETE', `/identifiers/${encodeURIComponent(id)}`),
    grant: (key: string, role_id: string, { surface, conversation }: Place, expires_at: number | null) =>
      ask<Grant>('POST', `${of(key)}/grants`, {
        role_id,
        scope: {
          ...(surface !== undefined && { surface }),
          ...(conversation !== undefined && { conversation_key: conversation }),
        },
        expires_at,
      }),
    revoke: (id: string) => ask('DELETE', `/grants/${encodeURIComponent(id)}`),
    explain: (channel: string, raw_id: string, context: { public: boolean; conversation_key?: string }) =>
      ask<ExplainedIdentity>('POST', '/resolve', { channel, sender: { raw_id }, context, explain: true }),
    audit: (limit: number, key?: string) =>
      ask<Audit>('GET', `/audit?limit=${limit}${key === undefined ? '' : `&principal=${encodeURIComponent(key)}`}`),
  };
}

export type TrustApi = ReturnType<typeof createTrustApi>;

const helpFor = ({ error, message }: ErrorBody): string => {
  if (error === 'not_found' && message.startsWith('There is no role')) return './svc role';
  return error === 'bad_request' ? './svc person --help' : './svc person list';
};
