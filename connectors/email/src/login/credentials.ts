import { errorText, systemClock, type Clock, type StartContext } from '@svc/connector-kit';
import { mailFault } from '../mailbox/mail-fault.ts';
import type { Config } from '../meta.ts';

/** The login: a password or an access token. */
export type Credential = { password: string } | { accessToken: string };

export type Credentials = {
  /** Rejects with a `ServiceError` when a token must be fetched and cannot be. */
  current(): Promise<Credential>;
  /** A server refused the credential: the next call fetches another token. */
  refused(): void;
};

type Deps = Pick<StartContext<Config>, 'config' | 'secrets'> & { clock?: Clock };
type Token = { value: string; endsAt: number };

const patienceMs = 15_000;
/** A token is replaced this long before it expires, because the login takes time, ms. */
const marginMs = 60_000;
const usualSeconds = 3600;

/** The mailbox's password; or, with `oauth_token_url`, an access token that is fetched with a refresh token (RFC 6749 section 6). */
export async function openCredentials({ config, secrets, clock = systemClock }: Deps): Promise<Credentials> {
  const secret = await secrets.get(config.password_secret_key);
  if (config.login === 'password') return fixed({ password: secret });
  const { oauth_token_url: url, oauth_client_id: client, oauth_client_secret_key: clientKey } = config;
  if (url === '') return fixed({ accessToken: secret });
  const clientSecret = clientKey === undefined ? undefined : await secrets.get(clientKey);
  // A server may return a new refresh token each time. The first one, which the operator stored, stays valid.
  let refresh = secret;
  let token: Token | null = null;
  let fetching: Promise<Token> | null = null;

  async function fetchToken(): Promise<Token> {
    const form = new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: refresh,
      client_id: client,
      ...(clientSecret !== undefined && { client_secret: clientSecret }),
      ...(config.oauth_scope !== '' && { scope: config.oauth_scope }),
    });
    const begun = clock.elapsed();
    const said = await ask(url, form);
    if (said.refresh_token !== undefined) refresh = said.refresh_token;
    return { value: said.access_token, endsAt: begun + said.expires_in * 1000 - marginMs };
  }

  return {
    async current() {
      if (token !== null && clock.elapsed() < token.endsAt) return { accessToken: token.value };
      fetching ??= fetchToken().finally(() => (fetching = null));
      token = await fetching;
      return { accessToken: token.value };
    },
    refused: () => void (token = null),
  };
}

const fixed = (credential: Credential): Credentials => ({ current: async () => credential, refused: () => undefined });

type Answer = { access_token: string; expires_in: number; refresh_token?: string };

async function ask(url: string, body: URLSearchParams): Promise<Answer> {
  const server = `The token server ${new URL(url).host}`;
  const response = await fetch(url, { method: 'POST', body, redirect: 'error', signal: AbortSignal.timeout(patienceMs) }).catch(
    (error: unknown) => {
      throw mailFault(server, { code: 'ENETWORK', message: errorText(error) });
    },
  );
  // A proxy may answer anything, so each field is checked.
  const said = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  const { access_token, expires_in, refresh_token, error, error_description } = said;
  if (response.status >= 500 || response.status === 429)
    throw mailFault(server, { code: 'ENETWORK', message: `It answered ${response.status}` });
  if (!response.ok || typeof access_token !== 'string' || access_token === '')
    throw mailFault(server, {
      authenticationFailed: true,
      message: [error, error_description].filter((one) => typeof one === 'string').join(': ') || `It answered ${response.status}`,
    });
  const seconds = typeof expires_in === 'number' && expires_in > 0 ? expires_in : usualSeconds;
  return { access_token, expires_in: seconds, ...(typeof refresh_token === 'string' && { refresh_token }) };
}
