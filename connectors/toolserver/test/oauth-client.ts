import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientProvider,
  type Transport,
} from '@modelcontextprotocol/client';
import { openBrowser, type Page } from './browser.ts';
import type { OpenToolserver } from './open-toolserver.ts';

export const callback = 'http://127.0.0.1:4790/callback';

type Info = Awaited<ReturnType<OAuthClientProvider['clientInformation']>>;

/** What a program that speaks MCP keeps while it signs in. */
export class Signin implements OAuthClientProvider {
  info: Info;
  held: Parameters<OAuthClientProvider['saveTokens']>[0] | undefined;
  asked: URL | undefined;
  clientMetadataUrl?: string;
  readonly name: string;
  #verifier = '';
  constructor(name = 'A probe', info?: Info) {
    this.name = name;
    this.info = info;
  }
  get redirectUrl() {
    return callback;
  }
  get clientMetadata() {
    return {
      client_name: this.name,
      redirect_uris: [callback],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
  }
  clientInformation() {
    return this.info;
  }
  saveClientInformation(info: NonNullable<Info>) {
    this.info = info as Info;
  }
  tokens() {
    return this.held;
  }
  saveTokens(tokens: NonNullable<typeof this.held>) {
    this.held = tokens;
  }
  redirectToAuthorization(url: URL) {
    this.asked = url;
  }
  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier;
  }
  codeVerifier() {
    return this.#verifier;
  }
  state() {
    return 'a-state';
  }
}

/** The operator's part: opens the page and approves with a code. */
export async function approve(server: OpenToolserver, url: string): Promise<Page> {
  const browser = openBrowser();
  const page = await browser.open(url);
  return browser.submit(page, { code: await server.code(), decision: 'approve' }, callback);
}

export const newClient = (mode?: 'auto') =>
  new Client({ name: 'a probe', version: '1' }, mode === undefined ? {} : { versionNegotiation: { mode } });

type Open = {
  signin: Signin;
  mode?: 'auto';
  transport?: (signin: Signin) => Transport & { finishAuth(params: URLSearchParams): Promise<void> };
};

/** Connects as a program does that sees this server for the first time. */
export async function connect(server: OpenToolserver, { signin, mode, transport }: Open): Promise<Client> {
  const make = () =>
    transport?.(signin) ?? new StreamableHTTPClientTransport(new URL('/mcp', server.url), { authProvider: signin });
  const first = make();
  try {
    const client = newClient(mode);
    await client.connect(first as Transport);
    return client;
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
  }
  const { url } = await approve(server, signin.asked!.href);
  await first.finishAuth(url.searchParams);
  const client = newClient(mode);
  await client.connect(make() as Transport);
  return client;
}
