import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StartContext } from '@svc/connector-kit/connector.ts';
import { connectorContract } from '@svc/connector-kit/testing/connector-contract.ts';
import { defaultsOf, fakeContext } from '@svc/connector-kit/testing/fake-context.ts';
import { startGitHubServer, type GitHubServer } from '@svc/testing/github-server/index.ts';
import { listen } from '@svc/testing/listen.ts';
import { http } from '@svc/service-kit/builtin.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { meta, start } from '../src/index.ts';
import type { Config } from '../src/meta.ts';
import { openIssues } from './open-issues.ts';

let server: GitHubServer;
beforeAll(async () => {
  server = await startGitHubServer();
  server.repo('ann', 'demo', false);
});
afterAll(() => server.close());

connectorContract({
  test,
  folder: path.join(import.meta.dirname, '..'),
  load: () => import('../src/index.ts'),
  config: () => ({ repos: [{ owner: 'ann', repo: 'demo' }], pat_secret_key: 'TOKEN', api_url: server.apiUrl }),
  secrets: { TOKEN: 'ghp_thetokenofthebot000000000000000000000' },
});

/** The error of a failed start. */
async function failure(config: Partial<Config>, token = server.token): Promise<string> {
  const folder = temporaryFolder();
  const whole = {
    ...defaultsOf(meta),
    repos: [{ owner: 'ann', repo: 'demo' }],
    pat_secret_key: 'TOKEN',
    api_url: server.apiUrl,
    ...config,
  };
  const { context } = fakeContext({ type: meta.type, dataDir: folder.path, config: whole }, { TOKEN: token });
  try {
    return await start(context as unknown as StartContext<Config>).then(
      () => 'it started',
      (error: Error) => error.message + String(error.cause),
    );
  } finally {
    folder.remove();
  }
}

test('the start reports what is wrong with the token or the repositories', async () => {
  const wrong = 'ghp_wrong0000000000000000000000000000000';
  expect(await failure({}, wrong)).toMatch(/rejected this token \(401\).*--secret pat_secret_key/);
  expect(await failure({}, wrong)).not.toContain(wrong);
  expect(await failure({}, 'two words')).toMatch(/is not a GitHub access token/);
  expect(await failure({ repos: [{ owner: 'ann', repo: 'nothing' }] })).toMatch(/^svc-bot cannot read ann\/nothing/);
  expect(await failure({ workspace_dir: '/tmp' })).toMatch(/Do not change workspace_dir/);
  expect(await failure({ webhook_port: 1 })).toMatch(/webhook_secret_key/);
  expect(
    await failure({
      repos: [
        { owner: 'ann', repo: 'demo' },
        { owner: 'Ann', repo: 'demo' },
      ],
    }),
  ).toMatch(/is listed twice/);
  const readsOnly = await startGitHubServer({ scopes: 'read:org' });
  readsOnly.repo('ann', 'demo', false);
  expect(await failure({ api_url: readsOnly.apiUrl, dry_run: false })).toMatch(
    /has no permission to write: its scopes are "read:org"/,
  );
  await readsOnly.close();
  const noScopes = await startGitHubServer({ scopes: '' });
  noScopes.repo('ann', 'demo', false);
  expect(await failure({ api_url: noScopes.apiUrl, dry_run: false })).toMatch(/has no permission to write: it has no scopes/);
  await noScopes.close();
  expect(await failure({ api_url: readsOnly.apiUrl })).toMatch(/GitHub cannot be reached \(ECONNREFUSED\)/);
});

test.each([
  [
    'a page for people',
    (_path: string, response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
  ],
  [
    'a way to the login that never ends',
    (path: string, response: ServerResponse) => response.writeHead(302, { location: path }).end(),
  ],
  ['nothing at this path', (_path: string, response: ServerResponse) => response.writeHead(404).end()],
])('reports a wrong api_url where the server answers with %s', async (_what, answer) => {
  const other = await listen(http.createServer((request, response) => answer(request.url ?? '/', response)));
  const said = await failure({ api_url: other.url });
  await other.close();
  expect(said).toContain(`The request went to ${other.url}. For a GitHub Enterprise Server, api_url is https://HOST/api/v3.`);
  expect(said).not.toMatch(/\((Type)?Error\)/);
});

test('a dry run warns about permissions that a real run needs', async () => {
  const steps = async (scopes: string) => {
    const { live } = await openIssues({ server: { scopes }, config: { dry_run: true } });
    return live().firstSteps ?? '';
  };
  expect(await steps('read:org')).toMatch(
    /This token has no permission to write: its scopes are "read:org"[^\n]*\nThis is a dry run/,
  );
  expect(await steps('public_repo')).not.toContain('no permission to write');
});

test('counts all calls of a busy day and shows the last ten in order', async () => {
  const { live } = await openIssues({
    strangers: ['eve'],
    before(github, repo, ann) {
      const issue = github.open(repo, ann, { title: 'A', body: '@assistant first of all' });
      issue.createdAt -= 3600_000;
      for (let n = 0; n < 240; n++) github.comment(issue, ann, n % 20 === 0 ? `@assistant number ${n}` : 'nothing');
    },
  });
  const [head, ...lines] = (live().firstSteps ?? '').split('\n').slice(1, 12);
  expect(head).toBe('In the last day it was called 13 times in ann/demo. The last 10:');
  expect(lines[9]).toContain('@assistant number 220');
  expect(lines.join()).not.toContain('first of all');
});

test('the count says “at least” when the day has more comments than are read', async () => {
  const { live } = await openIssues({
    before(github, repo, ann) {
      const issue = github.open(repo, ann, { title: 'A', body: 'nothing' });
      github.comment(issue, ann, '@assistant once');
      for (let n = 0; n < 520; n++) github.comment(issue, ann, 'nothing');
    },
  });
  expect(live().firstSteps).toContain('In the last day it was called at least 1 time in ann/demo.');
});

test('the first start names the account and lists what it would have answered in the last day', async () => {
  const { live, restart, core } = await openIssues({
    strangers: ['eve'],
    before(github, repo, ann) {
      const issue = github.open(repo, ann, { title: 'A', body: '@assistant look' });
      github.comment(issue, github.user('eve'), '@assistant do my homework');
      github.comment(issue, ann, 'nothing');
    },
  });
  expect(live().firstSteps?.split('\n').slice(0, 4)).toEqual([
    'The assistant is svc-bot in ann/demo. Mention @assistant to call it.',
    'In the last day it was called 2 times in ann/demo.',
    '  not answered: ann/demo#1, eve (not known): "@assistant do my homework"',
    '  answered: ann/demo#1, ann: "@assistant look"',
  ]);
  await restart();
  expect([live().firstSteps, core.turns]).toEqual([undefined, []]);
});

test('restarts while GitHub is unreachable', async () => {
  const { server: github, restart, repo, ann, shown } = await openIssues();
  github.failNext(/^GET \/user$/, 'cut before');
  await restart();
  const issue = github.open(repo, ann, { title: 'A', body: '@assistant one' });
  await expect.poll(() => shown(issue)).toEqual([expect.stringMatching(/^echo: one/)]);
});
