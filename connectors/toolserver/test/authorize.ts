import { createHash, randomBytes } from 'node:crypto';
import { openBrowser, type Browser, type Page } from './browser.ts';
import { callback } from './oauth-client.ts';
import type { OpenToolserver } from './open-toolserver.ts';

/** A client that does by hand what libraries do, so that it can do it wrongly. */
export type RawClient = { id: string; secret?: string };

export const verifier = randomBytes(32).toString('base64url');
export const challenge = createHash('sha256').update(verifier).digest('base64url');

export async function register(server: OpenToolserver, metadata: object = {}): Promise<Response> {
  return fetch(new URL('/oauth/register', server.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'A probe', redirect_uris: [callback], token_endpoint_auth_method: 'none', ...metadata }),
  });
}

export async function registered(server: OpenToolserver, metadata: object = {}): Promise<RawClient> {
  const body = (await (await register(server, metadata)).json()) as { client_id: string; client_secret?: string };
  return { id: body.client_id, ...(body.client_secret !== undefined && { secret: body.client_secret }) };
}

/** The address to which a program sends the browser; what is null is left out. */
export function authorizeUrl(server: OpenToolserver, client: RawClient, changed: Record<string, string | null> = {}): string {
  const usual = {
    client_id: client.id,
    redirect_uri: callback,
    response_type: 'code',
    scope: 'ask',
    state: 'a-state',
    resource: `${server.url}/mcp`,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  };
  const params = Object.entries({ ...usual, ...changed }).filter((entry): entry is [string, string] => entry[1] !== null);
  return `${server.url}/oauth/authorize?${new URLSearchParams(params)}`;
}

/** Opens the page and approves; gives where the browser was sent. */
export async function approved(
  server: OpenToolserver,
  client: RawClient,
  changed: Record<string, string | null> = {},
  browser: Browser = openBrowser(),
): Promise<Page> {
  const page = await browser.open(authorizeUrl(server, client, changed), changed['redirect_uri'] ?? callback);
  return browser.submit(page, { code: await server.code(), decision: 'approve' }, changed['redirect_uri'] ?? callback);
}

/** As `approved`, with a code of the test's own. */
export async function approvedWith(server: OpenToolserver, client: RawClient, code: string): Promise<Page> {
  const browser = openBrowser();
  const page = await browser.open(authorizeUrl(server, client), callback);
  return browser.submit(page, { code, decision: 'approve' }, callback);
}

export async function codeFor(
  server: OpenToolserver,
  client: RawClient,
  changed: Record<string, string | null> = {},
): Promise<string> {
  const { url } = await approved(server, client, changed);
  return url.searchParams.get('code') ?? '';
}

export type Tokens = { access_token: string; refresh_token?: string; error?: string };

export async function token(
  server: OpenToolserver,
  client: RawClient,
  fields: Record<string, string>,
): Promise<{ status: number; headers: Headers; body: Tokens }> {
  const basic = client.secret === undefined ? {} : { authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` };
  const response = await fetch(new URL('/oauth/token', server.url), {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...basic },
    body: new URLSearchParams({ ...(client.secret === undefined && { client_id: client.id }), ...fields }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Tokens };
}

export const redeem = (server: OpenToolserver, client: RawClient, code: string, changed: Record<string, string> = {}) =>
  token(server, client, { grant_type: 'authorization_code', code, redirect_uri: callback, code_verifier: verifier, ...changed });

export const refresh = (server: OpenToolserver, client: RawClient, value: string) =>
  token(server, client, { grant_type: 'refresh_token', refresh_token: value });

/** Lists the tools with a token; 200 when it is good. */
export async function listTools(server: OpenToolserver, value: string | null, url = '/mcp'): Promise<Response> {
  return fetch(new URL(url, server.url), {
    method: 'POST',
    headers: {
      ...(value !== null && { authorization: `Bearer ${value}` }),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
  });
}
