import { expect, test } from 'vitest';
import { openIssues } from './open-issues.ts';

const looks = (paths: readonly { path: string }[]) => paths.filter(({ path }) => path.endsWith('/demo/issues/comments')).length;

test('answers a mention in a comment or a new issue once, and no bot or comment without a mention', async () => {
  const { server, repo, ann, shown, core, restart } = await openIssues();
  const issue = server.open(repo, ann, { title: 'A fault', body: '@assistant what is it?' });
  await expect.poll(() => shown(issue)).toEqual([expect.stringContaining('echo: what is it?')]);
  server.comment(issue, ann, 'And you, @assistant?');
  await expect.poll(() => shown(issue)).toHaveLength(2);
  server.comment(issue, ann, 'nothing for you');
  server.comment(issue, server.bot, '@assistant says the account of the assistant');
  const bot = server.user('other[bot]', { type: 'Bot' });
  server.comment(issue, bot, '@assistant says a bot');
  const before = looks(server.calls);
  await expect.poll(() => looks(server.calls)).toBeGreaterThan(before + 3);
  expect(core.turns).toHaveLength(2);
  await restart();
  const since = looks(server.calls);
  await expect.poll(() => looks(server.calls)).toBeGreaterThan(since + 3);
  expect([core.turns.length, shown(issue).length]).toEqual([2, 3]);
});

test('the working comment shows thoughts and tools folded, and finally the answer alone', async () => {
  const { server, repo, ann, shown, core } = await openIssues();
  const end = Promise.withResolvers<void>();
  core.script = async ({ handlers, result }) => {
    handlers.onThinking?.('Is <b>it</b> </details> so?');
    handlers.onTool?.({ id: 't1', name: 'Read', input: { path: 'a.ts' } });
    handlers.onToolResult?.({ id: 't1', ok: true, output: 'a ``` fence @eve' });
    handlers.onDelta?.('It is');
    await end.promise;
    return result({ actions: [{ type: 'reply', text: 'It is so, @ann, and not as @eve says. `@Injectable()`' }] });
  };
  const issue = server.open(repo, ann, { title: 'A fault', body: '@assistant what is it?' });
  await expect.poll(() => shown(issue)[0]).toContain('It is');
  const [live = ''] = shown(issue);
  expect(live).toMatch(/^⏳ \*Working on it…\*/);
  expect(live.match(/<details>/g)).toHaveLength(2);
  expect(live.match(/<\/details>/g)).toHaveLength(2);
  expect(live).toContain('&lt;b>it');
  expect(live).toContain('````\na ``` fence @eve\n````');
  end.resolve();
  await expect.poll(() => shown(issue)).toEqual(['It is so, @ann, and not as @\u200beve says. `@Injectable()`']);
});

test('splits a long answer into several comments, and deletes the working comment of a silent turn', async () => {
  const { server, repo, ann, shown, core } = await openIssues();
  const long = Array.from({ length: 20_000 }, (_, n) => `word${n}`).join(' ');
  core.script = ({ result }) => result({ actions: [{ type: 'reply', text: long }] });
  const issue = server.open(repo, ann, { title: 'A fault', body: '@assistant all of it' });
  await expect.poll(() => shown(issue).join(' ').replaceAll(/\s+/g, ' ')).toBe(long);
  expect(shown(issue).length).toBeGreaterThan(2);
  const marks = issue.comments.filter(({ user }) => user === server.bot).map(({ body }) => / (\S+) -->$/.exec(body)?.[1]);
  expect(new Set(marks)).toEqual(new Set([`issue-${issue.id}`]));
  const count = shown(issue).length;
  core.script = async ({ result }) => {
    await expect.poll(() => shown(issue).length).toBe(count + 1);
    return result({ outcome: 'silent' });
  };
  server.comment(issue, ann, '@assistant hush');
  await expect.poll(() => server.deleted.length).toBe(1);
  expect(shown(issue)).toHaveLength(count);
});

test('deleting the working comment ends the turn, and nothing replaces it', async () => {
  const { server, repo, ann, shown, core } = await openIssues();
  const end = Promise.withResolvers<void>();
  core.sessions.abort = async () => end.resolve();
  core.script = async ({ handlers, result }) => {
    const timer = setInterval(() => handlers.onDelta?.('word '), 20);
    await end.promise;
    clearInterval(timer);
    return result({ outcome: 'aborted' });
  };
  const issue = server.open(repo, ann, { title: 'A fault', body: '@assistant count' });
  await expect.poll(() => shown(issue)[0]).toContain('word');
  server.remove(repo, issue, issue.comments[0]!);
  await expect.poll(() => core.acks).toHaveLength(1);
  expect(shown(issue)).toEqual([]);
});

test('deleting the working comment also ends a turn without output', async () => {
  const { server, repo, ann, shown, core } = await openIssues();
  const end = Promise.withResolvers<void>();
  core.sessions.abort = async () => end.resolve();
  core.script = async ({ result }) => {
    await end.promise;
    return result({ outcome: 'aborted' });
  };
  const issue = server.open(repo, ann, { title: 'A fault', body: '@assistant think' });
  await expect.poll(() => shown(issue)).toHaveLength(1);
  server.remove(repo, issue, issue.comments[0]!);
  await expect.poll(() => core.acks).toHaveLength(1);
  expect(shown(issue)).toEqual([]);
});

test('a restarted process finds the comment of an interrupted answer and finishes it', async () => {
  const { server, repo, ann, shown, core, restart } = await openIssues();
  const never = new Promise<never>(() => undefined);
  core.script = async ({ handlers }) => {
    handlers.onDelta?.('Half of ');
    return never;
  };
  server.failNext(/^POST .*\/comments$/, 'cut after');
  const issue = server.open(repo, ann, { title: 'A fault', body: '@assistant all' });
  await expect.poll(() => shown(issue)[0]).toContain('Half of');
  await restart();
  await expect.poll(() => shown(issue)).toEqual([expect.stringMatching(/^echo: all/)]);
}, 20_000);

test('a dry run writes nothing and logs what it would do', async () => {
  const { server, repo, ann, logs, live } = await openIssues({ config: { dry_run: true, reactions: true } });
  const issue = server.open(repo, ann, { title: 'A fault', body: '@assistant please close' });
  await expect.poll(() => logs.join('\n')).toMatch(/would post \(dry run\).*ann\/demo#1.*echo: please close/);
  await live().call?.('ann/demo#1', 'close_issue', {}, AbortSignal.timeout(5000));
  expect(server.calls.filter(({ method }) => method !== 'GET')).toEqual([]);
  expect([issue.state, logs.join('\n').includes('would do (dry run)')]).toEqual(['open', true]);
});

test('all requests keep the pause that GitHub asks for, and nothing is lost or repeated', async () => {
  const { server, repo, ann, shown } = await openIssues();
  server.failNext(/^POST/, { limit: 'secondary', retryAfterS: 1 });
  const issue = server.open(repo, ann, { title: 'A fault', body: '@assistant one' });
  await expect.poll(() => shown(issue), { timeout: 10_000 }).toEqual([expect.stringMatching(/^echo: one/)]);
  server.failNext(/^GET/, { limit: 'primary', retryAfterS: 1 });
  server.comment(issue, ann, '@assistant two');
  await expect.poll(() => shown(issue), { timeout: 10_000 }).toHaveLength(2);
}, 25_000);

test('asks a question in a comment and passes the answer on unchanged', async () => {
  const { server, repo, ann, shown, core } = await openIssues();
  const asked = Promise.withResolvers<void>();
  core.script = async ({ handlers, result }) => {
    if (core.turns.length > 1) return result({ outcome: 'silent' });
    const options = [
      { id: 'yes', label: 'Yes' },
      { id: 'no', label: 'No' },
    ];
    handlers.onAsk?.({ id: 'ask_1', text: 'Really?', options, for: 'prn_1', expires_at: Date.now() + 60_000 });
    await asked.promise;
    return result({ actions: [{ type: 'reply', text: 'Done.' }] });
  };
  const issue = server.open(repo, ann, { title: 'A fault', body: '@assistant do it' });
  await expect.poll(() => shown(issue).join('\n')).toContain('Really?');
  server.comment(issue, ann, '@assistant yes');
  await expect.poll(() => core.turns.map(({ envelope }) => envelope.content.text)[1]).toBe('yes');
  asked.resolve();
  await expect.poll(() => shown(issue)).toContain('Done.');
});

test('each answer may mention the person who asked for it, also when another person asks next', async () => {
  const { server, repo, ann, shown, core } = await openIssues();
  const bob = server.user('bob');
  const next = Promise.withResolvers<void>();
  core.script = async ({ envelope, result }) => {
    if (core.turns.length === 1) await next.promise;
    else next.resolve();
    return result({ actions: [{ type: 'reply', text: `${envelope.sender.raw_id} of @ann and @bob` }] });
  };
  const issue = server.open(repo, ann, { title: 'A fault', body: '@assistant one' });
  await expect.poll(() => core.turns.length).toBe(1);
  server.comment(issue, bob, '@assistant two');
  await expect.poll(() => shown(issue)).toEqual(['ann of @ann and @\u200bbob', 'bob of @\u200bann and @bob']);
});
