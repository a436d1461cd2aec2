import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  approved,
  approvedWith,
  authorizeUrl,
  codeFor,
  listTools,
  redeem,
  refresh,
  register,
  registered,
  token,
  verifier,
} from './authorize.ts';
import { openBrowser } from './browser.ts';
import { callback } from './oauth-client.ts';
import { openToolserver, type OpenToolserver } from './open-toolserver.ts';

// The attacks of RFC 9700, section 4, and the tests of the defences; those without a file are here.
// 4.1 redirect addresses: "rejects an unregistered redirect address", "accepts any port"; "rejects redirects"
// 4.2, 4.3 leaks by referrer and history: "cannot be framed" (headers), "are rejected in the address"
// 4.4 mix-up: "redirects with the issuer"
// 4.5 code injection: "of one client are rejected for another", "are rejected with"
// 4.6 token injection: response_type=token in "redirects with an error and no code"
// 4.7 CSRF: "the form from another browser", "a form that another site sends"
// 4.8 PKCE downgrade: "with no challenge redirects with an error": no code is issued without a challenge
// 4.9, 4.10 tokens that leak: "of another instance are rejected", "are stored as digests"; expiry after an hour: `stream-expiry.test.ts`
// 4.11 open redirection: as 4.1; errors go to addresses that are registered
// 4.12 redirect with 307: "redirects with the issuer" (303)
// 4.13 proxies: "are built from the public address, whatever the headers"
// 4.14 refresh tokens: "a refresh token rotates", "sent several times at once"; "issued tokens" (`hostile.test.ts`)
// 4.15 a client as a person: "ignores an identity that the client claims"
// 4.16 clickjacking: "cannot be framed"
// 4.17 messages between windows: none are sent, pages run no script
// Beside it: documents of clients, floods, sizes, kills in `hostile.test.ts`; DNS rebinding: "are built from the public address" (403 for another
// host), "pages of other sites are rejected"; consent by prefetch: "viewing the page changes nothing".
const ann = {
  client_id: 'pre-1',
  client_secret: 'a-secret-of-more-than-16',
  client_name: 'Own',
  redirect_uris: [callback],
  identity: { userId: 'ann', username: 'Ann' },
};
type Waiting = { waiting: unknown[] };
const withClients = (clients: object[]) => (dir: string) => {
  writeFileSync(path.join(dir, 'clients.json'), JSON.stringify({ clients }), { mode: 0o600 });
};

async function tokensOf(server: OpenToolserver) {
  const client = await registered(server);
  const { body } = await redeem(server, client, await codeFor(server, client));
  return { client, ...body };
}

describe('tokens', () => {
  test.each(['/mcp', '/message?sessionId=x'])(
    '%s without a valid token answers 401 and names the metadata at the public address',
    async (route) => {
      const server = await openToolserver({ config: { base_url: 'https://assistant.example.org' } });
      for (const value of [null, 'garbage', 'a'.repeat(5000)]) {
        const answer = await listTools(server, value, route);
        expect(answer.status).toBe(401);
        expect(answer.headers.get('www-authenticate')).toContain(
          `resource_metadata="https://assistant.example.org/.well-known/oauth-protected-resource/${route.startsWith('/mcp') ? 'mcp' : 'sse'}"`,
        );
      }
      const stream = await fetch(`${server.url}/sse`);
      expect(stream.status).toBe(401);
    },
  );

  test('are rejected in the address', async () => {
    const server = await openToolserver();
    const { access_token: value } = await tokensOf(server);
    expect((await listTools(server, value)).status).toBe(200);
    expect((await listTools(server, null, `/mcp?access_token=${value}`)).status).toBe(401);
    expect((await listTools(server, null, `/message?sessionId=x&access_token=${value}`)).status).toBe(401);
    expect((await fetch(`${server.url}/sse?access_token=${value}`)).status).toBe(401);
  });

  test('of another instance are rejected', async () => {
    const [one, two] = [await openToolserver(), await openToolserver()];
    const { access_token: value } = await tokensOf(one);
    expect((await listTools(two, value)).status).toBe(401);
  });

  test('are stored as digests alone, like codes and refresh tokens', async () => {
    const server = await openToolserver();
    const client = await registered(server);
    const code = await codeFor(server, client);
    const { body } = await redeem(server, client, code);
    const disk = readFileSync(path.join(server.dir, 'state.jsonl'), 'utf8');
    for (const secret of [code, body.access_token, body.refresh_token!]) expect(disk).not.toContain(secret);
  });

  test('a refresh token rotates with its use, and its reuse revokes all tokens of the grant', async () => {
    const server = await openToolserver();
    const { client, refresh_token: first } = await tokensOf(server);
    const second = await refresh(server, client, first!);
    expect(second.body.refresh_token).not.toBe(first);
    expect((await refresh(server, client, first!)).body.error).toBe('invalid_grant');
    expect((await refresh(server, client, second.body.refresh_token!)).body.error).toBe('invalid_grant');
    expect((await listTools(server, second.body.access_token)).status).toBe(401);
  });

  test('a refresh token sent several times at once is accepted once', async () => {
    const server = await openToolserver();
    const { client, refresh_token: value } = await tokensOf(server);
    const answers = await Promise.all([1, 2, 3, 4].map(() => refresh(server, client, value!)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test.each([
    ['in its form', { body: `client_id=${encodeURIComponent('https://slow.example/id')}` }],
    ['in the header', { authorization: `Basic ${btoa(`${encodeURIComponent('https://slow.example/id')}:x`)}` }],
    ['beside another', { body: `client_id=a&client_id=${encodeURIComponent('HTTPS://slow.example/id')}` }],
  ])('a client that names its document %s and was not approved is rejected without a fetch', async (_where, sent) => {
    const server = await openToolserver();
    const { body = 'client_secret=x', authorization } = sent as { body?: string; authorization?: string };
    for (const route of ['/oauth/token', '/oauth/revoke']) {
      const answer = await fetch(new URL(route, server.url), {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...(authorization !== undefined && { authorization }) },
        body: `${body}&grant_type=refresh_token&refresh_token=x&token=x`,
      });
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({
        error: 'invalid_grant',
        error_description: expect.stringContaining('not approved'),
      });
    }
  });

  test('a client can revoke its own token, but not that of another client', async () => {
    const server = await openToolserver();
    const { client, access_token: value } = await tokensOf(server);
    const handBack = (id: string) =>
      fetch(new URL('/oauth/revoke', server.url), { method: 'POST', body: new URLSearchParams({ client_id: id, token: value }) });
    await handBack((await registered(server)).id);
    expect((await listTools(server, value)).status).toBe(200);
    expect((await handBack(client.id)).status).toBe(200);
    expect((await listTools(server, value)).status).toBe(401);
  });

  test('are issued for a code or a refresh token alone', async () => {
    const server = await openToolserver({ before: withClients([ann]) });
    const own = { id: 'pre-1', secret: ann.client_secret };
    for (const grant of ['client_credentials', 'password', 'implicit', 'urn:ietf:params:oauth:grant-type:jwt-bearer']) {
      const { status, body } = await token(server, own, { grant_type: grant, scope: 'ask', username: 'ann', password: 'x' });
      expect([status, body.access_token]).toEqual([400, undefined]);
    }
  });

  test('responses forbid caching', async () => {
    const server = await openToolserver();
    const client = await registered(server);
    const { headers } = await redeem(server, client, await codeFor(server, client));
    expect(headers.get('cache-control')).toContain('no-store');
  });
});

describe('codes', () => {
  test('are accepted once, and their reuse revokes the tokens they gave', async () => {
    const server = await openToolserver();
    const client = await registered(server);
    const code = await codeFor(server, client);
    const { body } = await redeem(server, client, code);
    expect((await redeem(server, client, code)).body.error).toBe('invalid_grant');
    expect((await listTools(server, body.access_token)).status).toBe(401);
  });

  test('sent several times at once are accepted once', async () => {
    const server = await openToolserver();
    const client = await registered(server);
    const code = await codeFor(server, client);
    const answers = await Promise.all([1, 2, 3, 4].map(() => redeem(server, client, code)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test('of one client are rejected for another (code injection)', async () => {
    const server = await openToolserver();
    const [a, b] = [await registered(server), await registered(server)];
    expect((await redeem(server, b, await codeFor(server, a))).body.error).toBe('invalid_grant');
  });

  test.each<Record<string, string>>([
    { code_verifier: 'x'.repeat(43) },
    { code_verifier: '' },
    { redirect_uri: `${callback}/` },
    { resource: 'https://other.example/mcp' },
  ])('are rejected with %j', async (changed) => {
    const server = await openToolserver();
    const client = await registered(server);
    const { status } = await redeem(server, client, await codeFor(server, client), changed);
    expect(status).toBe(400);
  });

  test('require the correct secret of the client', async () => {
    const server = await openToolserver({ before: withClients([ann]) });
    const own = { id: 'pre-1', secret: ann.client_secret };
    const code = await codeFor(server, own);
    const wrong = await redeem(server, { ...own, secret: 'another-secret-of-16-ch' }, code);
    expect([wrong.status, wrong.body.error]).toEqual([401, 'invalid_client']);
    expect((await redeem(server, { id: 'pre-1' }, code)).status).toBe(401);
    expect((await redeem(server, own, code)).status).toBe(200);
  });
});

describe('authorization', () => {
  test.each([
    ['no challenge', { code_challenge: null, code_challenge_method: null }],
    ['a plain challenge', { code_challenge_method: 'plain', code_challenge: verifier }],
    ['a challenge without method', { code_challenge_method: null }],
    ['another resource', { resource: 'https://other.example/mcp' }],
    ['a token in the fragment', { response_type: 'token' }],
  ])('with %s redirects with an error and no code', async (_name, changed) => {
    const server = await openToolserver();
    const { url } = await openBrowser().open(authorizeUrl(server, await registered(server), changed), callback);
    expect(url.href.startsWith(callback)).toBe(true);
    expect(url.searchParams.get('code')).toBeNull();
    expect(url.search + url.hash).toContain('error=');
  });

  test.each([
    `${callback}/`,
    callback.toUpperCase(),
    `${callback}x`,
    `${callback}?extra=1`,
    callback.replace('http://', 'http://user@'),
    `${callback}#part`,
    callback.replace('127.0.0.1', 'evil.127.0.0.1.example'),
    'https://evil.example/callback',
    'javascript:alert(1)',
    'data:text/html,hi',
    '//evil.example/callback',
    '',
  ])('rejects an unregistered redirect address on the page, without a redirect: %s', async (uri) => {
    const server = await openToolserver();
    const page = await openBrowser().open(authorizeUrl(server, await registered(server), { redirect_uri: uri }));
    expect(page.status).toBe(400);
    expect(page.url.pathname).toBe('/oauth/authorize');
    expect(page.text).not.toContain('<form');
  });

  test('rejects a missing redirect address on the page, even if only one is registered', async () => {
    const server = await openToolserver();
    const page = await openBrowser().open(authorizeUrl(server, await registered(server), { redirect_uri: null }));
    expect([page.status, page.url.pathname, page.text.includes('<form')]).toEqual([400, '/oauth/authorize', false]);
  });

  test('keeps its state in cookies that are HttpOnly, SameSite and limited to its path', async () => {
    const server = await openToolserver();
    const url = authorizeUrl(server, await registered(server));
    const { headers } = await fetch(url, { redirect: 'manual', headers: { 'sec-fetch-mode': 'navigate' } });
    const cookies = headers.getSetCookie();
    expect(cookies.length).toBeGreaterThan(0);
    for (const cookie of cookies) expect(cookie).toMatch(/; path=\/oauth[\w/-]*;.* samesite=lax; httponly/);
  });

  test('accepts any port for a registered loopback address, and for no other', async () => {
    const server = await openToolserver();
    const other = callback.replace('4790', '4791');
    const { url } = await approved(server, await registered(server), { redirect_uri: other });
    expect(url.href.startsWith(other)).toBe(true);
    const far = await registered(server, { redirect_uris: ['https://client.example/callback'] });
    const page = await openBrowser().open(authorizeUrl(server, far, { redirect_uri: 'https://client.example:444/callback' }));
    expect(page.status).toBe(400);
  });

  test('redirects with the issuer and status 303', async () => {
    const server = await openToolserver();
    const { url, status } = await approved(server, await registered(server));
    expect(url.searchParams.get('iss')).toBe(server.url);
    expect(status).toBe(303);
  });

  test('asks for consent again when the client was approved before', async () => {
    const server = await openToolserver();
    const client = await registered(server);
    const browser = openBrowser();
    await approved(server, client, {}, browser);
    const page = await browser.open(authorizeUrl(server, client), callback);
    expect(page.text).toContain('<form');
    const silent = await browser.open(authorizeUrl(server, client, { prompt: 'none' }), callback);
    expect(silent.url.searchParams.get('code')).toBeNull();
  });

  test('viewing the page changes nothing', async () => {
    const server = await openToolserver();
    const browser = openBrowser();
    const client = await registered(server);
    for (let times = 0; times < 3; times++) await browser.open(authorizeUrl(server, client));
    await browser.open(`${server.url}/oauth/consent`);
    expect(await server.listed()).toEqual([]);
  });
});

describe('consent page', () => {
  const open = async (metadata: object = {}) => {
    const server = await openToolserver();
    const browser = openBrowser();
    const page = await browser.open(authorizeUrl(server, await registered(server, metadata)));
    return { server, browser, page };
  };

  test('cannot be framed, runs no script, and submits its form to us and the client alone', async () => {
    const { page } = await open();
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toBe(
      "default-src 'none'; style-src 'self'; form-action 'self' http://127.0.0.1:4790; frame-ancestors 'none'; base-uri 'none'",
    );
    expect(page.headers.get('x-frame-options')).toBe('DENY');
    expect([page.headers.get('referrer-policy'), page.headers.get('cache-control')]).toEqual(['same-origin', 'no-store']);
    expect(page.text).not.toMatch(/<script|style=|onclick/i);
  });

  test('escapes names', async () => {
    const { page } = await open({ client_name: '<img src=x onerror=alert(1)>"\'&' });
    expect(page.text).toContain('&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;');
    expect(page.text).not.toContain('<img');
  });

  test("approves with the operator's code alone, and expires after five wrong codes", async () => {
    const { server, browser, page } = await open();
    const good = await server.code();
    for (let tries = 0; tries < 5; tries++) {
      const again = await browser.submit(page, { code: 'AAAA-AAAA', decision: 'approve' }, callback);
      expect([again.status, again.text.includes('role="alert"')]).toEqual([403, true]);
    }
    expect((await browser.submit(page, { code: good, decision: 'approve' }, callback)).status).toBe(403);
    expect(await server.listed()).toEqual([]);
  });

  test("wrong codes on other pages do not use up the operator's code", async () => {
    const { server, browser, page } = await open();
    const code = await server.code();
    for (let pages = 0; pages < 3; pages++) {
      const stranger = openBrowser();
      const theirs = await stranger.open(authorizeUrl(server, await registered(server)));
      for (let tries = 0; tries < 7; tries++) await stranger.submit(theirs, { code: 'AAAA-AAAA', decision: 'approve' }, callback);
    }
    expect((await browser.submit(page, { code, decision: 'approve' }, callback)).url.href).toContain('code=');
  });

  test('limits the rate of submissions', async () => {
    const { server } = await open();
    const form = { 'content-type': 'application/x-www-form-urlencoded', origin: server.url };
    const send = () => fetch(new URL('/oauth/approve', server.url), { method: 'POST', headers: form, body: 'decision=approve' });
    const statuses = await Promise.all(Array.from({ length: 100 }, async () => (await send()).status));
    expect(statuses.filter((status) => status === 429)).toHaveLength(40);
  });

  test('rejects a code for another program, which stays valid for that program', async () => {
    const { server, browser, page } = await open();
    const other = await registered(server);
    const code = await server.code({ client_id: other.id });
    expect((await browser.submit(page, { code, decision: 'approve' }, callback)).status).toBe(403);
    const { url } = await approvedWith(server, other, code);
    expect(url.searchParams.get('code')).toEqual(expect.any(String));
  });

  test('links the program on whose page the code is entered to the person, and no other that waits', async () => {
    const { server, browser, page } = await open({ client_name: 'Mine' });
    const linked = new Set<string>();
    const { resolve } = server.core;
    server.core.resolve = async (asked) => ({ ...(await resolve(asked)), denied: !linked.has(asked.sender.raw_id) });
    server.core.script = ({ envelope, result }) => {
      if (envelope.content.text === 'AN-INVITATION') linked.add(envelope.sender.raw_id);
      return result();
    };
    await openBrowser().open(authorizeUrl(server, await registered(server, { client_name: 'Attacker' })));
    const code = await server.code({ invitation: 'AN-INVITATION' });
    expect((await browser.submit(page, { code, decision: 'approve' }, callback)).url.href).toContain('code=');
    const [mine] = await server.listed();
    expect([mine?.client_name, [...linked]]).toEqual(['Mine', [mine?.user_id]]);
  });

  test('does not relink a program that acts for another person, and accepts a code for the same person', async () => {
    const { server, browser, page } = await open();
    const { resolve } = server.core;
    const owner = { denied: false, principal_key: 'owner', display_name: 'The owner' };
    server.core.resolve = async (asked) => ({ ...(await resolve(asked)), ...owner });
    const code = await server.code({ invitation: 'AN-INVITATION', principal: 'ann' });
    const refused = await browser.submit(page, { code, decision: 'approve' }, callback);
    expect([refused.status, refused.text.includes('It already acts for &quot;The owner&quot;')]).toEqual([403, true]);
    expect(await server.listed()).toEqual([]);
    const again = await server.code({ invitation: 'ANOTHER', principal: 'owner' });
    expect((await browser.submit(refused, { code: again, decision: 'approve' }, callback)).url.href).toContain('code=');
    expect(server.core.turns).toEqual([]);
  });

  test('approves nothing when the person cannot be linked, and shows why', async () => {
    const { server, browser, page } = await open();
    const { resolve } = server.core;
    server.core.resolve = async (asked) => ({ ...(await resolve(asked)), denied: true });
    server.core.script = ({ result }) => result({ actions: [{ type: 'reply', text: 'This invitation does not work.' }] });
    const code = await server.code({ invitation: 'OLD' });
    const again = await browser.submit(page, { code, decision: 'approve' }, callback);
    expect([again.status, again.text.includes('This invitation does not work.')]).toEqual([403, true]);
    expect(await server.listed()).toEqual([]);
  });

  test('accepts a code once', async () => {
    const { server, browser, page } = await open();
    const code = await server.code();
    expect((await browser.submit(page, { code, decision: 'approve' }, callback)).url.href).toContain('code=');
    const second = openBrowser();
    const other = await second.open(authorizeUrl(server, await registered(server)));
    expect((await second.submit(other, { code, decision: 'approve' }, callback)).status).toBe(403);
  });

  test('rejects the form from another browser or without its key', async () => {
    const { server, browser, page } = await open();
    const code = await server.code();
    const stranger = openBrowser();
    expect((await stranger.submit(page, { code, decision: 'approve' }, callback)).status).toBe(404);
    const forged = { ...page, text: page.text.replace(/name="form_key" value="[^"]*"/, 'name="form_key" value="forged"') };
    expect((await browser.submit(forged, { code, decision: 'approve' }, callback)).status).toBe(403);
    expect(await server.listed()).toEqual([]);
  });

  test('rejects a form that another site sends', async () => {
    const { server, page } = await open();
    const answer = await fetch(new URL('/oauth/approve', server.url), {
      method: 'POST',
      headers: { origin: 'https://evil.example', 'content-type': 'application/x-www-form-urlencoded' },
      body: 'decision=approve',
    });
    expect(answer.status).toBe(403);
    void page;
  });

  test('a refusal redirects with access_denied and removes the request', async () => {
    const { server, browser, page } = await open();
    const waiting = async () => ((await server.live().call!('', 'clients', {}, new AbortController().signal)) as Waiting).waiting;
    expect(await waiting()).toHaveLength(1);
    const { url } = await browser.submit(page, { decision: 'deny', code: await server.code() }, callback);
    expect(url.searchParams.get('error')).toBe('access_denied');
    expect([await waiting(), await server.listed()]).toEqual([[], []]);
  });

  test('approves a program that acts for no known person', async () => {
    const { server, browser, page } = await open();
    const { resolve } = server.core;
    server.core.resolve = async (asked) => ({ ...(await resolve(asked)), denied: true });
    const { url } = await browser.submit(page, { code: await server.code(), decision: 'approve' }, callback);
    expect(url.searchParams.get('code')).toEqual(expect.any(String));
  });
});

describe('registration', () => {
  test.each([
    [['javascript:alert(1)']],
    [['https://a;frame-ancestors*.evil.example/callback']],
    [['data:text/html,x']],
    [['file:///etc/passwd']],
    [['http://client.example/callback']],
    [['https://user:pw@client.example/cb']],
    [['https://client.example/cb#x']],
    [['vbscript:x']],
    [[]],
    [Array.from({ length: 21 }, (_, index) => `https://client.example/${index}`)],
    [['https://client.example/cb', 'JavaScript:alert(1)']],
  ])('rejects redirects %j', async (uris) => {
    const server = await openToolserver();
    const answer = await register(server, { redirect_uris: uris });
    expect([answer.status, ((await answer.json()) as { error: string }).error]).toEqual([400, 'invalid_redirect_uri']);
  });

  test('ignores an identity that the client claims', async () => {
    const server = await openToolserver({ before: withClients([ann]) });
    const client = await registered(server, { identity: { userId: 'ann' }, sub: 'ann', client_id: 'pre-1' });
    expect(client.id).not.toBe('pre-1');
    await codeFor(server, client);
    const [listed] = (await server.listed()).filter(({ by }) => by === 'itself');
    expect(listed?.user_id).toMatch(/^client-[0-9a-f]{32}$/);
  });

  test('limits the rate of registrations', async () => {
    const server = await openToolserver();
    const statuses = await Promise.all(Array.from({ length: 100 }, async () => (await register(server)).status));
    expect(statuses.filter((status) => status === 201)).toHaveLength(20);
    expect(new Set(statuses)).toEqual(new Set([201, 429]));
  });
});

describe('addresses', () => {
  const ask = (server: OpenToolserver, route: string, headers: Record<string, string>) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      http
        .get(new URL(route, server.url), { headers }, (response) => {
          let text = '';
          response.on('data', (part: Buffer) => (text += part.toString()));
          response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        })
        .on('error', reject);
    });

  test('are built from the public address, whatever the headers of a request', async () => {
    const server = await openToolserver({ config: { base_url: 'https://assistant.example.org' } });
    for (const route of [
      '/.well-known/oauth-authorization-server',
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-protected-resource/mcp',
    ]) {
      expect((await ask(server, route, { host: 'evil.example' })).status).toBe(403);
      const { status, text } = await ask(server, route, {
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'http',
        forwarded: 'host=evil.example',
      });
      expect(status).toBe(200);
      const found = [...text.matchAll(/"(https?:\/\/[^"]*)"/g)].map(([, url]) => new URL(url!).origin);
      expect(new Set(found)).toEqual(new Set(['https://assistant.example.org']));
      expect(text).not.toContain('evil');
    }
    const { text } = await ask(server, '/.well-known/oauth-authorization-server', {});
    expect(JSON.parse(text)).toMatchObject({
      issuer: 'https://assistant.example.org',
      code_challenge_methods_supported: ['S256'],
    });
  });

  test('requests from pages of other sites are rejected', async () => {
    const server = await openToolserver();
    const { access_token: value } = await tokensOf(server);
    const answer = await fetch(`${server.url}/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${value}`, origin: 'https://evil.example', 'content-type': 'application/json' },
      body: '{}',
    });
    expect(answer.status).toBe(403);
  });
});

describe('clients file', () => {
  test('maps a client to its user', async () => {
    const server = await openToolserver({ before: withClients([ann]) });
    const own = { id: 'pre-1', secret: ann.client_secret };
    const { body } = await redeem(server, own, await codeFor(server, own));
    expect((await listTools(server, body.access_token)).status).toBe(200);
    expect(await server.listed()).toMatchObject([{ client_id: 'pre-1', user_id: 'ann', by: 'operator' }]);
  });

  test.each([
    ['no JSON', (file: string) => writeFileSync(file, '{ "clients": [ { "client_secret": "do-not-print-me-123"')],
    ['a link', (file: string) => symlinkSync('/etc/hostname', file)],
    ['a folder', (file: string) => mkdirSync(file)],
    ['a client without a user', (file: string) => writeFileSync(file, JSON.stringify({ clients: [{ ...ann, identity: {} }] }))],
    ['a client twice', (file: string) => writeFileSync(file, JSON.stringify({ clients: [ann, ann] }))],
  ])('rejects all clients when it is %s, and reports it in the health', async (_name, make) => {
    const server = await openToolserver({ before: (dir) => make(path.join(dir, 'clients.json')) });
    expect(server.live().health()).toMatchObject({ healthy: false, detail: expect.stringContaining('lets nobody in') });
    expect((await listTools(server, 'x')).status).toBe(503);
    expect((await register(server)).status).toBe(503);
    expect(JSON.stringify([server.live().health(), server.logs])).not.toContain('do-not-print-me');
  });

  test('a client removed from it loses access', async () => {
    const server = await openToolserver({ before: withClients([ann]) });
    const own = { id: 'pre-1', secret: ann.client_secret };
    const { body } = await redeem(server, own, await codeFor(server, own));
    withClients([])(server.dir);
    await expect.poll(async () => (await listTools(server, body.access_token)).status, { timeout: 5_000 }).toBe(401);
    void token;
  });
});
