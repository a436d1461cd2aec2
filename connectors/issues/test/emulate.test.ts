import { expect, onTestFinished, test } from 'vitest';
import type { StartContext } from '@svc/connector-kit/connector.ts';
import { defaultsOf, fakeContext } from '@svc/connector-kit/testing/fake-context.ts';
import { startEmulateGitHub } from '@svc/testing/emulate/start-emulate-github.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { meta, start } from '../src/index.ts';
import type { Config } from '../src/meta.ts';

type Issue = { number: number; state: string; labels: { name: string }[] };
type Comment = { id: number; body: string; user: { login: string } };

async function open() {
  const folder = temporaryFolder();
  const github = await startEmulateGitHub(['ann', 'svc-bot'], { owner: 'ann', name: 'demo' });
  const config = {
    ...defaultsOf(meta),
    repos: [{ owner: 'ann', repo: 'demo' }],
    pat_secret_key: 'TOKEN',
    api_url: github.apiUrl,
    poll_interval_ms: 100,
    write_interval_ms: 0,
    edit_interval_ms: 20,
    dry_run: false,
    reactions: true,
  };
  const fake = fakeContext({ type: meta.type, dataDir: folder.path, config }, { TOKEN: github.tokens['svc-bot'] ?? '' });
  const running = await start(fake.context as unknown as StartContext<Config>);
  onTestFinished(async () => {
    fake.shutdown.abort();
    await running.stop();
    await github.close();
    folder.remove();
  });
  const place = '/repos/ann/demo/issues';
  const comments = async (issue: Issue) => github.as<Comment[]>('ann', `GET ${place}/${issue.number}/comments`);
  const shown = async (issue: Issue) =>
    (await comments(issue))
      .filter(({ user }) => user.login === 'svc-bot')
      .map(({ body }) => body.replace(/\n*<!-- svc:[^>]*-->$/, ''));
  return { github, running, core: fake.core, place, comments, shown };
}

test('answers a mention in one comment that grows, labels the issue and closes it, on an independent GitHub server', async () => {
  const { github, running, core, place, comments, shown } = await open();
  const end = Promise.withResolvers<void>();
  core.script = async ({ handlers, result }) => {
    handlers.onDelta?.('It is');
    await end.promise;
    return result({ actions: [{ type: 'reply', text: 'It is so.' }] });
  };
  const issue = await github.as<Issue>('ann', `POST ${place}`, { title: 'A fault', body: 'It fails.' });
  await github.as('ann', `POST ${place}/${issue.number}/comments`, { body: 'no call' });
  await github.as('ann', `POST ${place}/${issue.number}/comments`, { body: '@assistant why?' });
  await expect.poll(() => shown(issue), { timeout: 10_000 }).toEqual([expect.stringMatching(/Working on it[^]*It is$/)]);
  end.resolve();
  await expect.poll(() => shown(issue), { timeout: 10_000 }).toEqual(['It is so.']);
  const target = `ann/demo#${issue.number}`;
  for (const [method, params] of [
    ['add_labels', { labels: ['bug'] }],
    ['close_issue', {}],
  ] as const)
    await running.call?.(target, method, params, AbortSignal.timeout(10_000));
  const after = await github.as<Issue>('ann', `GET ${place}/${issue.number}`);
  expect([after.state, after.labels.map(({ name }) => name)]).toEqual(['closed', ['bug']]);
  expect(core.turns.map(({ envelope }) => [envelope.sender.raw_id, envelope.content.text.split('\n')[0]])).toEqual([
    ['ann', 'why?'],
  ]);
  expect(await comments(issue)).toHaveLength(3);
  const writes = github.calls
    .filter(({ method }) => method === 'POST' || method === 'PATCH')
    .map(({ method, status }) => [method, status]);
  expect(writes.filter(([method]) => method === 'PATCH').length).toBeGreaterThan(1);
  expect(github.calls.some(({ status }) => status === 401 || status === 422)).toBe(false);
}, 30_000);
