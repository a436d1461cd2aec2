import { createHmac, timingSafeEqual } from 'node:crypto';
import type { InteractionResults, Provider } from 'oidc-provider';
import type { Exchange, Route } from '@svc/connector-kit';
import type { Clock } from '@svc/service-kit/clock.ts';
import { createFixedWindow } from '@svc/service-kit/fixed-window.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { operatorAccount, scope } from '../oauth/what-is-granted.ts';
import { mcpPath, oauthPaths, ssePath } from '../oauth/oauth-paths.ts';
import { atPublicAddress } from '../oauth/provider-request.ts';
import { redirectSource } from '../oauth/redirect-uris.ts';
import { userOf, type ClientUser, type KnownClient } from '../people/client-user.ts';
import type { Approvals } from './approvals.ts';
import type { ApprovalCodes, Invited, Taken } from './approval-codes.ts';
import { renderConsentPage, renderErrorPage, style, stylePath, type ConsentView } from './pages.ts';
import { readForm } from './read-form.ts';
import type { WaitingClients } from './waiting-clients.ts';

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;
/** An authorization request that waits for the operator. */
type Asked = { provider: Provider; interaction: Interaction; client: KnownClient; redirectUri: string };

export type ConsentDeps = {
  openProvider: () => Promise<Provider>;
  origin: () => string;
  assistantName: string;
  approvals: Approvals;
  codes: ApprovalCodes;
  waiting: WaitingClients;
  /** Of the operator's file, or of the client's own registration. */
  describeClient: (provider: Provider, clientId: string) => Promise<KnownClient>;
  /** The person that a user of this channel is; null for a stranger. */
  personOf: (userId: string) => Promise<string | null>;
  /** Links a user to the person of a core invitation. Null on success, else why not. */
  join: (user: ClientUser, invited: Invited) => Promise<string | null>;
  /** Secret for the keys of forms; it exists only in this process. */
  formSecret: Buffer;
  clock: Clock;
  onApproved: (client: KnownClient) => void;
};

/** Maximum per client address; behind a proxy all clients share one address. */
const triesPerMinute = 60;

/** The page on which the operator lets a client in, or not. Showing it changes nothing. */
export function createConsentRoutes(deps: ConsentDeps): Route[] {
  const open = { navigable: true };
  const tries = createFixedWindow(deps.clock, { max: triesPerMinute, windowMs: 60_000 });
  return [
    { method: 'GET', path: oauthPaths.consent, open, handle: asPage((exchange) => showConsent(deps, exchange)) },
    {
      method: 'POST',
      path: oauthPaths.approve,
      open,
      streamsBody: { maxBytes: 8 * 1024 },
      handle: asPage(async (exchange) => {
        if (tries.count(exchange.remote) > 0) throw new ServiceError('busy', 'Too many attempts. Wait a minute, then try again.');
        await decide(deps, exchange);
      }),
    },
    { method: 'GET', path: stylePath, handle: sendStyle },
  ];
}

async function showConsent(deps: ConsentDeps, exchange: Exchange): Promise<void> {
  const asked = await findAsked(deps, exchange);
  const { client_id, client_name } = asked.client;
  const { userId: user_id } = userOf(asked.client);
  deps.waiting.add({ client_id, client_name, user_id, redirect_to: redirectSource(asked.redirectUri) });
  await sendConsent(deps, exchange, asked);
}

async function decide(deps: ConsentDeps, exchange: Exchange): Promise<void> {
  const form = await readForm(exchange);
  const asked = await findAsked(deps, exchange);
  if (!isOurForm(deps, asked, form.get('form_key') ?? '')) {
    throw new ServiceError('forbidden', 'This form belongs to another request. Connect again from your program.');
  }
  if (form.get('decision') !== 'approve') {
    deps.waiting.remove(asked.client.client_id);
    return finish(exchange, asked, { error: 'access_denied', error_description: 'The operator denied access.' });
  }
  const { client, interaction } = asked;
  const taken = deps.codes.take(form.get('code') ?? '', { page: interaction.uid, clientId: client.client_id });
  const fault = taken.outcome === 'good' ? await link(deps, client, taken.invited) : wrongCode[taken.outcome];
  if (fault !== null) return sendConsent(deps, exchange, asked, fault);
  await approve(deps, exchange, asked);
}

const wrongCode: Record<Exclude<Taken['outcome'], 'good'>, string> = {
  wrong: 'This code is invalid or has expired. Get a new one with: ./svc toolserver approve',
  worn_out: 'Too many wrong codes. Connect the program again and enter a new code on the page that opens.',
};

/**
 * Links the client to the person of the invitation, if there is one. Only now is it known which client the operator means: the
 * one on whose page the code was entered. Null on success, else why not.
 */
async function link(deps: ConsentDeps, client: KnownClient, invited: Invited | undefined): Promise<string | null> {
  if (invited === undefined) return null;
  const fault = await deps.join(userOf(client), invited);
  return fault === null ? null : `The program could not be linked to the person. ${fault} Get a new code.`;
}

async function approve(deps: ConsentDeps, exchange: Exchange, asked: Asked): Promise<void> {
  const { provider, client, redirectUri } = asked;
  const { userId } = userOf(client);
  await deps.approvals.add({
    client_id: client.client_id,
    client_name: client.client_name,
    user_id: userId,
    redirect_to: redirectSource(redirectUri),
    approved_at: deps.clock.now(),
  });
  deps.waiting.remove(client.client_id);
  deps.onApproved(client);
  const grant = new provider.Grant({ accountId: operatorAccount, clientId: client.client_id });
  // Gemini CLI requests `openid`, too. A scope that the grant leaves out would be requested again on the same page, endlessly.
  grant.addOIDCScope(`openid ${scope} offline_access`);
  for (const path of [mcpPath, ssePath]) grant.addResourceScope(`${deps.origin()}${path}`, scope);
  const grantId = await grant.save();
  await finish(exchange, asked, { login: { accountId: operatorAccount, remember: false }, consent: { grantId } });
}

/** Sends the browser on: 303, so that the form is never sent to the client. */
async function finish({ req, res, requestId }: Exchange, { provider }: Asked, result: InteractionResults): Promise<void> {
  res.setHeader('x-request-id', requestId);
  res.setHeader('cache-control', 'no-store');
  await provider.interactionFinished(req, res, result, { mergeWithLastSubmission: false });
}

/** By the cookie of the browser that began it. @throws ServiceError `not_found` when there is none, or it is over. */
async function findAsked(deps: ConsentDeps, { req, res }: Exchange): Promise<Asked> {
  const provider = await deps.openProvider();
  atPublicAddress(req, deps.origin());
  const interaction = await provider.interactionDetails(req, res).catch((cause: unknown) => {
    throw new ServiceError(
      'not_found',
      'This request has expired, or it was started in another browser. Connect again from your program.',
      { cause },
    );
  });
  const { client_id: clientId, redirect_uri: redirectUri } = interaction.params;
  const client = await deps.describeClient(provider, String(clientId));
  return { provider, interaction, client, redirectUri: String(redirectUri) };
}

async function sendConsent(deps: ConsentDeps, exchange: Exchange, asked: Asked, fault?: string): Promise<void> {
  const { client, redirectUri } = asked;
  const view: ConsentView = {
    assistant: deps.assistantName,
    client: { name: client.client_name, id: client.client_id },
    redirectTo: redirectSource(redirectUri),
    person: await deps.personOf(userOf(client).userId),
    formKey: formKeyOf(deps, asked),
    ...(fault !== undefined && { fault }),
  };
  sendPage(exchange, fault === undefined ? 200 : 403, renderConsentPage(view), ["'self'", redirectSource(redirectUri)]);
}

/** `formTargets`: where its form may lead, redirects included. */
function sendPage({ res, requestId }: Exchange, status: number, page: string, formTargets: string[]): void {
  res.writeHead(status, { ...pageHeaders(formTargets), 'content-length': Buffer.byteLength(page), 'x-request-id': requestId });
  res.end(page);
}

const pageHeaders = (formTargets: string[]): Record<string, string> => ({
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src 'self'; form-action ${formTargets.join(' ')}; frame-ancestors 'none'; base-uri 'none'`,
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
});

/** A person is in front of the browser: what is wrong is shown as a page. */
const asPage =
  (handle: (exchange: Exchange) => Promise<void>): Route['handle'] =>
  async (exchange) => {
    try {
      await handle(exchange);
    } catch (error) {
      if (!(error instanceof ServiceError) || exchange.res.headersSent) throw error;
      sendPage(exchange, error.status, renderErrorPage(error.message), ["'none'"]);
    }
  };

const formKeyOf = ({ formSecret }: ConsentDeps, { interaction }: Asked): string =>
  createHmac('sha256', formSecret).update(interaction.uid).digest('base64url');

function isOurForm(deps: ConsentDeps, asked: Asked, sent: string): boolean {
  const expected = Buffer.from(formKeyOf(deps, asked));
  const given = Buffer.from(sent);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function sendStyle({ res, requestId }: Exchange): void {
  res.writeHead(200, {
    'content-type': 'text/css; charset=utf-8',
    'content-length': Buffer.byteLength(style),
    'cache-control': 'max-age=3600',
    'x-content-type-options': 'nosniff',
    'x-request-id': requestId,
  });
  res.end(style);
}
