import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Checkout, CheckoutList } from '@svc/contract/checkout.ts';
import type { Envelope } from '@svc/contract/envelope.ts';
import { createCoreLink } from '@svc/connector-kit/core-link.ts';
import { systemClock } from '@svc/service-kit/clock.ts';
import { filesBelow, filesHolding } from '@svc/testing/files-below.ts';
import { startGitServer, type GitServer, type ServedRepository } from '@svc/testing/git-server.ts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runGit } from '../src/checkout/run-git.ts';
import { openCheckoutStore } from '../src/checkout/checkout-store.ts';
import { createMirrors } from '../src/checkout/mirrors.ts';
import { openLinkServer } from '../src/turn/link-server.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

let server: GitServer;
let repo: ServedRepository;
let first: string;
let second: string;
let core: TestCore;
let names = 0;

const env = () => ({
  SVC_CHECKOUT_HOSTS: `127.0.0.1:${server.port}`,
  SVC_CHECKOUT_MAX_SIZE: '3mb',
  SVC_MAX_CHECKOUTS: '4',
  SVC_CHECKOUT_SECRETS: `GIT_TOKEN@127.0.0.1:${server.port}, NO_SUCH_SECRET@127.0.0.1:${server.port}, ELSEWHERE@github.com`,
  OTHER_TOKEN: 'of-something-else',
  ELSEWHERE: 'of-another-server',
  GIT_TOKEN: 'the-token-of-a-private-repository',
  SVC_MANAGER_TOKEN: 'no-credential-for-git',
});

beforeAll(async () => {
  server = await startGitServer();
  repo = server.repository('repo');
  writeFileSync(path.join(repo.folder, 'a.txt'), 'one');
  first = repo.commit();
  repo.git(['update-ref', 'refs/pull/7/head', first]);
  writeFileSync(path.join(repo.folder, 'a.txt'), 'two');
  second = repo.commit();
  repo.git(['tag', '-m', 'a tag', 'v1', first]);
  repo.git(['config', 'uploadpack.allowAnySHA1InWant', 'true']);
});
afterAll(() => server.close());
beforeEach(async () => {
  core = await openTestCore({ env: env() });
});
afterEach(async () => {
  server.answerWith(null);
  await core.close();
});

const call = (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) =>
  core.app.inject({ method, url, ...(payload === undefined ? {} : { payload }) });
const ask = (payload: object) => call('POST', '/v2/checkouts', { url: repo.url, ...payload });
async function obtain(payload: object = {}): Promise<Checkout> {
  const answer = await ask(payload);
  expect([answer.statusCode, answer.body]).toEqual([200, answer.body]);
  return answer.json<Checkout>();
}
const refusal = async (payload: object) => {
  const { statusCode, body } = await ask(payload);
  return `${statusCode} ${body}`;
};
const textIn = (checkout: Checkout, file = 'a.txt') => readFileSync(path.join(checkout.path, file), 'utf8');
const list = async () => (await call('GET', '/v2/checkouts')).json<CheckoutList>().checkouts;
const mirrors = () => readdirSync(path.join(core.folder, 'checkouts/mirrors'));
const say = (key: string, checkout: string, sender = 'owner') =>
  core.handle(
    envelope('hello', { conversation_key: key, sender: { raw_id: sender }, workspace: { checkout } } as Partial<Envelope>),
  );
const repository = () => server.repository(`r${++names}`);

describe('a checkout', () => {
  test('contains the files of a branch, a tag, a commit or a pull request', async () => {
    const wanted: [string | undefined, string, string][] = [
      [undefined, second, 'two'],
      ['main', second, 'two'],
      ['v1', first, 'one'],
      [first, first, 'one'],
      ['refs/pull/7/head', first, 'one'],
      ['pull/7/head', first, 'one'],
    ];
    for (const [ref, sha, text] of wanted) {
      const checkout = await obtain(ref === undefined ? {} : { ref });
      expect([ref, checkout.sha, textIn(checkout)]).toEqual([ref, sha, text]);
    }
    expect(mirrors()).toHaveLength(1);
  });

  test('is reused by its conversation, also after a restart, and not shared with another', async () => {
    const mine = await obtain({ conversation_key: 'compat:c1:a' });
    const other = await obtain({ conversation_key: 'compat:c1:b' });
    expect(await obtain({ conversation_key: 'compat:c1:a' })).toEqual(mine);
    expect(other.path).not.toBe(mine.path);
    const afterwards = await openCheckoutStore(path.join(core.folder, 'checkouts'));
    expect(
      afterwards
        .all()
        .map(({ id }) => id)
        .sort(),
    ).toEqual([mine.id, other.id].sort());
    expect(afterwards.find(mine.id)).toMatchObject({ conversation_key: 'compat:c1:a', sha: second });
  });

  test('keeps local changes until a refresh is requested, which follows the branch', async () => {
    const own = repository();
    writeFileSync(path.join(own.folder, 'a.txt'), 'old');
    own.commit();
    const asked = { url: own.url, conversation_key: 'compat:c1:a' };
    const before = await obtain(asked);
    expect((await say('compat:c1:a', before.id)).statusCode).toBe(200);
    writeFileSync(path.join(before.path, 'work.txt'), 'mine');
    writeFileSync(path.join(own.folder, 'a.txt'), 'new');
    const sha = own.commit();
    expect(await obtain(asked)).toEqual(before);
    expect([textIn(before), textIn(before, 'work.txt')]).toEqual(['old', 'mine']);
    const after = await obtain({ ...asked, refresh: true });
    expect([after, textIn(after), existsSync(path.join(after.path, 'work.txt'))]).toEqual([{ ...before, sha }, 'new', false]);
  });

  test('is an independent repository: changes affect no other checkout and no mirror', async () => {
    const [mine, other] = [await obtain({ conversation_key: 'a' }), await obtain({ conversation_key: 'b' })];
    const before = filesBelow(path.join(core.folder, 'checkouts/mirrors')).sort();
    const { execFileSync } = await import('node:child_process');
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: mine.path, encoding: 'utf8' });
    expect(git('status', '--short')).toBe('');
    writeFileSync(path.join(mine.path, 'a.txt'), 'changed');
    git('commit', '-qam', 'mine');
    git('config', 'core.hooksPath', '/tmp');
    expect(git('log', '--oneline').split('\n')).toHaveLength(3);
    expect(textIn(other)).toBe('two');
    expect(filesBelow(path.join(core.folder, 'checkouts/mirrors')).sort()).toEqual(before);
  });

  test('is removed on request, with its conversation, and least recently used first over the limit', async () => {
    const gone = await obtain({ conversation_key: 'compat:c1:a' });
    expect((await call('DELETE', `/v2/checkouts/${gone.id}`)).statusCode).toBe(200);
    expect([existsSync(gone.path), (await call('GET', `/v2/checkouts/${gone.id}`)).statusCode]).toEqual([false, 404]);
    const forgotten = await obtain({ conversation_key: 'compat:c1:a' });
    await say('compat:c1:a', forgotten.id);
    await call('DELETE', '/v2/session/compat:c1:a');
    expect(existsSync(forgotten.path)).toBe(false);
    const ids: string[] = [];
    for (const key of ['b', 'c', 'd']) ids.push((await obtain({ conversation_key: key })).id);
    // One asker may have half of the four.
    expect((await list()).map(({ id }) => id).sort()).toEqual(ids.slice(1).sort());
    await core.context.checkouts.sweep();
    expect(mirrors()).toHaveLength(1);
    for (const id of ids.slice(1)) await call('DELETE', `/v2/checkouts/${id}`);
    await core.context.checkouts.sweep();
    expect(mirrors()).toHaveLength(0);
  });
});

test('a mirror fetched under a clock that was ahead is fetched again', async () => {
  await core.close();
  let aheadMs = 3_600_000;
  core = await openTestCore({ env: env(), clock: { ...systemClock, now: () => Date.now() + aheadMs } });
  const own = repository();
  const write = (text: string) => {
    writeFileSync(path.join(own.folder, 'a.txt'), text);
    own.commit();
  };
  const read = async () => textIn(await obtain({ url: own.url }));
  write('old');
  expect(await read()).toBe('old');
  write('new');
  expect(await read()).toBe('old');
  aheadMs = 0;
  expect(await read()).toBe('new');
});

test('a connector requests a checkout over its link and uses it in one conversation', async () => {
  const file = path.join(core.folder, 'run/core.sock');
  const link = await openLinkServer(core.context, file);
  const pass = core.context.connectorPasses.issue({ type: 'compat', instanceId: 'c1' }).reveal();
  const log = () => undefined;
  const connector = createCoreLink({ socketPath: file, pass, clock: systemClock, log });
  try {
    const checkout = await connector.checkout({ url: repo.url });
    expect(textIn(checkout)).toBe('two');
    expect((await list())[0]).toMatchObject({ instance_id: 'c1', conversation_key: null });
    const asked = (key: string) => envelope('hi', { conversation_key: key, workspace: { checkout: checkout.id } });
    await connector.handle(asked('compat:c1:a'));
    expect(core.engine.requests.at(-1)?.cwd).toBe(checkout.path);
    // From its first turn on it belongs to that conversation.
    await expect(connector.handle(asked('compat:c1:b'))).rejects.toMatchObject({ code: 'unprocessable' });
    expect((await connector.checkout({ url: repo.url })).id).not.toBe(checkout.id);
    expect((await connector.checkout({ url: repo.url, conversation_key: 'compat:c1:a' })).id).toBe(checkout.id);
  } finally {
    connector.close();
    await link.close();
  }
});

test('concurrent requests get one checkout per conversation', async () => {
  const keys = ['a', 'a', 'b', 'a', 'b'];
  const got = await Promise.all(keys.map((conversation_key) => obtain({ conversation_key })));
  expect(new Set(got.map(({ id }) => id)).size).toBe(2);
  expect(got[0]).toEqual(got[1]);
});

describe('a turn that names a checkout', () => {
  test('keeps it from being replaced or removed while the turn runs', async () => {
    const key = 'compat:c1:a';
    const { id, path: folder } = await obtain({ conversation_key: key });
    const entered = Promise.withResolvers<void>();
    const leave = Promise.withResolvers<void>();
    core.engine.script(async function* () {
      entered.resolve();
      await leave.promise;
      yield { type: 'done' };
    });
    const turn = say(key, id);
    await entered.promise;
    expect(await refusal({ conversation_key: key, refresh: true })).toMatch(/^409/);
    expect((await call('DELETE', `/v2/checkouts/${id}`)).statusCode).toBe(409);
    expect((await obtain({ conversation_key: key })).id).toBe(id);
    for (const other of ['x', 'y', 'z']) await obtain({ conversation_key: other });
    expect(existsSync(folder)).toBe(true);
    leave.resolve();
    expect((await turn).statusCode).toBe(200);
    expect((await call('DELETE', `/v2/checkouts/${id}`)).statusCode).toBe(200);
  });

  test('keeps it from being removed while a terminal claims the conversation', async () => {
    const key = 'compat:c1:a';
    const { id } = await obtain({ conversation_key: key });
    await say(key, id);
    await call('POST', '/v2/claim', { conversation_key: key, by: 'a terminal' });
    expect((await call('DELETE', `/v2/checkouts/${id}`)).statusCode).toBe(409);
    await call('POST', '/v2/release', { conversation_key: key });
    expect((await call('DELETE', `/v2/checkouts/${id}`)).statusCode).toBe(200);
  });

  test('runs in it when its sender may read files, and otherwise in the usual folder', async () => {
    await core.addPrincipal('gus', 'guest');
    await core.addPrincipal('kim', 'known');
    const cwds: Record<string, string | undefined> = {};
    const { id, path: folder } = await obtain({ conversation_key: 'compat:c1:a' });
    for (const who of ['owner', 'kim', 'gus']) {
      expect((await say('compat:c1:a', id, who)).statusCode).toBe(200);
      cwds[who] = core.engine.requests.at(-1)?.cwd;
      expect(core.engine.requests.at(-1)?.trustedFolder).toBe(false);
    }
    expect(cwds).toMatchObject({ owner: folder, kim: folder });
    expect(cwds['gus']).toContain('/workspaces/');
  });

  test('is rejected without reaching an engine when the checkout belongs to another conversation', async () => {
    const { id } = await obtain({ conversation_key: 'compat:c1:a' });
    for (const [key, checkout] of [
      ['compat:c1:b', id],
      ['compat:c1:a', 'co_none'],
      ['compat:c1:a', '../../..'],
    ] as const) {
      const answer = await say(key, checkout);
      expect([answer.statusCode, answer.json<{ message: string }>().message]).toEqual([
        422,
        expect.stringContaining('request it again'),
      ]);
    }
    expect(core.engine.requests).toEqual([]);
  });
});

test('a checkout claimed during its refresh stays with that conversation, and lost files are restored', async () => {
  const own = repository();
  writeFileSync(path.join(own.folder, 'a.txt'), 'old');
  own.commit();
  const obtainOfC1 = (refresh = false) => core.context.checkouts.obtain({ url: own.url, refresh }, 'c1');
  const before = await obtainOfC1();
  writeFileSync(path.join(own.folder, 'a.txt'), 'new');
  own.commit();
  const asked = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  server.answerWith(() => (asked.resolve(), go.promise));
  const again = obtainOfC1(true);
  await asked.promise;
  expect((await say('compat:c1:a', before.id)).statusCode).toBe(200);
  server.answerWith(null);
  go.resolve();
  const after = await again;
  expect([after.id === before.id, textIn(before), textIn(after)]).toEqual([false, 'old', 'new']);
  expect((await list()).find(({ id }) => id === before.id)).toMatchObject({ conversation_key: 'compat:c1:a' });
  rmSync(after.path, { recursive: true });
  expect(await obtainOfC1()).toEqual(after);
  expect(textIn(after)).toBe('new');
});

describe('a checkout that cannot be made', () => {
  test.each([
    ['no such branch', { ref: 'nope' }, /^422.*no branch, tag or commit .*nope/],
    ['no such commit', { ref: 'a'.repeat(40) }, /^422/],
    ['an option as a ref', { ref: '--upload-pack=id' }, /^400.*begins with/],
    ['a file', { url: 'file:///etc' }, /^400.*only https/],
    ['a program', { url: 'ext::sh -c id' }, /^400/],
    ['a private host', { url: 'https://127.0.0.1:1/a' }, /^400.*private network.*SVC_CHECKOUT_HOSTS/],
    ['a setting of the service as credential', { credential: 'SVC_MANAGER_TOKEN' }, /^403/],
    ['a secret that nobody has declared', { credential: 'OTHER_TOKEN' }, /^403.*SVC_CHECKOUT_SECRETS=OTHER_TOKEN@127/],
    ['a secret of another server', { credential: 'ELSEWHERE' }, /^403.*not declared for 127/],
    ['a secret that is not there', { credential: 'NO_SUCH_SECRET' }, /^422.*NO_SUCH_SECRET/],
    ['a field that is not known', { depth: 1 }, /^400/],
  ])('names the reason: %s', async (_, payload, text) => expect(await refusal(payload)).toMatch(text));

  test('names the reason: missing repository, redirect to another address, broken server', async () => {
    expect(await refusal({ url: `${server.url}/none/.git` })).toMatch(/^422.*not a repository/);
    server.answerWith((_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/x' }).end());
    expect(await refusal({})).toMatch(/^422.*redirects to another address/);
    server.answerWith((request) => void request.socket.destroy());
    expect(await refusal({})).toMatch(/^502/);
    server.answerWith((_, response) => void response.writeHead(500).end('<html>'));
    expect(await refusal({})).toMatch(/^502/);
    expect(await list()).toEqual([]);
    expect(existsSync(path.join(core.folder, 'checkouts/trees'))).toBe(false);
  });
});

describe('a private repository', () => {
  test('is fetched with a named secret that is never written to disk, and refused without it', async () => {
    server.lock(`x-access-token:${env().GIT_TOKEN}`);
    try {
      expect(await refusal({})).toMatch(/^422.*refused.*credential/);
      const checkout = await obtain({ credential: 'GIT_TOKEN' });
      expect(textIn(checkout)).toBe('two');
      const header = Buffer.from(`x-access-token:${env().GIT_TOKEN}`).toString('base64');
      for (const value of [env().GIT_TOKEN, header]) expect(filesHolding(path.join(core.folder, 'checkouts'), value)).toEqual([]);
      // Objects fetched with one credential are not served without it.
      expect(await refusal({})).toMatch(/^422/);
      expect(await refusal({ ref: second })).toMatch(/^422/);
    } finally {
      server.lock(null);
    }
  });
});

describe('a hostile repository', () => {
  test('is refused when a path in it is too long to remove', async () => {
    const own = repository();
    let tree = own.git(['mktree'], `100644 blob ${own.git(['hash-object', '-w', '--stdin'], 'x')}\tf\n`);
    for (let level = 0; level < 30; level++) tree = own.git(['mktree'], `40000 tree ${tree}\t${'d'.repeat(200)}\n`);
    own.git(['update-ref', 'refs/heads/main', own.git(['commit-tree', tree, '-m', 'deep'])]);
    expect(await refusal({ url: own.url })).toMatch(/^413.*longer than 2000 bytes/);
    expect(await list()).toEqual([]);
  });

  test('is checked out without following links or running filters, hooks and submodules', async () => {
    const own = repository();
    const proof = path.join(own.folder, 'proof');
    symlinkSync('/etc', path.join(own.folder, 'out'));
    symlinkSync('../../../core.db', path.join(own.folder, 'db'));
    writeFileSync(path.join(own.folder, '.gitattributes'), '* filter=lfs diff=lfs\n*.txt filter=evil\n');
    writeFileSync(path.join(own.folder, 'large.bin'), 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n');
    writeFileSync(
      path.join(own.folder, '.gitmodules'),
      `[submodule "s"]\n\tpath = sub\n\turl = ext::touch ${proof}\n\tupdate = !touch ${proof}\n`,
    );
    mkdirSync(path.join(own.folder, 'hooks'));
    writeFileSync(path.join(own.folder, 'hooks/post-checkout'), `#!/bin/sh\ntouch ${proof}\n`, { mode: 0o755 });
    own.git(['update-index', '--add', '--cacheinfo', `160000,${first},sub`]);
    own.commit();
    const checkout = await obtain({ url: own.url });
    expect([lstatSync(path.join(checkout.path, 'out')).isFile(), textIn(checkout, 'out')]).toEqual([true, '/etc']);
    expect(textIn(checkout, 'db')).toBe('../../../core.db');
    expect(textIn(checkout, 'large.bin')).toContain('git-lfs');
    expect([existsSync(proof), existsSync(path.join(checkout.path, 'proof'))]).toEqual([false, false]);
  });

  test('with a folder whose name is git’s own is refused, however it is written', async () => {
    const own = repository();
    const config = own.git(['hash-object', '-w', '--stdin'], '[core]\n\tfsmonitor = touch proof\n');
    const inner = own.git(['mktree'], `100644 blob ${config}\tconfig\n`);
    for (const [at, name] of ['.git', '.GIT', 'git~1', '..', '.g\u200cit'].entries()) {
      const entry = Buffer.concat([Buffer.from(`40000 ${name}\0`), Buffer.from(inner, 'hex')]);
      const tree = own.git(['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], entry);
      own.git(['update-ref', `refs/heads/evil-${at}`, own.git(['commit-tree', tree, '-m', 'evil'])]);
      expect(await refusal({ url: own.url, ref: `evil-${at}` }), name).toMatch(/^502.*could not be checked out/);
      expect(await list(), name).toEqual([]);
    }
  });

  test('is refused for a huge file, too many files or too large a fetch, leaving nothing on disk', async () => {
    const zeros = repository();
    writeFileSync(path.join(zeros.folder, 'zeros'), Buffer.alloc(8 * 2 ** 20));
    zeros.commit();
    expect(await refusal({ url: zeros.url })).toMatch(/^413.*larger than 3 MB/);

    const bomb = repository();
    let tree = bomb.git(['mktree'], `100644 blob ${bomb.git(['hash-object', '-w', '--stdin'], 'x')}\tf\n`);
    for (let level = 0; level < 8; level++)
      tree = bomb.git(['mktree'], Array.from({ length: 10 }, (_, at) => `40000 tree ${tree}\td${at}\n`).join(''));
    bomb.git(['update-ref', 'refs/heads/main', bomb.git(['commit-tree', tree, '-m', 'bomb'])]);
    expect(await refusal({ url: bomb.url })).toMatch(/^413.*more than 100000 files/);

    const noise = repository();
    noise.git(['config', 'core.compression', '0']); // it would take time and gain nothing
    writeFileSync(path.join(noise.folder, 'noise'), randomBytes(12 * 2 ** 20));
    noise.commit();
    expect(await refusal({ url: noise.url })).toMatch(/^413.*MB/);
    expect([await list(), mirrors()]).toEqual([[], []]);
  });
});

test('git is stopped when an endless list of refs makes it exceed its memory limit', async () => {
  server.answerWith((_, response) => {
    response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' });
    response.write('001e# service=git-upload-pack\n0000');
    const lines = Buffer.from(`003f${'a'.repeat(40)} refs/heads/xxxxxx\n`.repeat(20_000));
    const more = () => {
      if (!response.destroyed) response.write(lines, () => setImmediate(more));
    };
    more();
  });
  const home = { folder: core.folder, env: { PATH: process.env['PATH'] ?? '' } };
  const end = await runGit(['ls-remote', repo.url], { home, protocols: 'http', timeoutMs: 60_000, maxMemory: 64 * 2 ** 20 });
  expect(end.ending).toBe('too_hungry');
});

describe('an interrupted fetch', () => {
  const request = (id: string, timeoutMs: number) => ({
    key: 'k',
    url: repo.url,
    ref: 'main',
    id,
    protocols: 'http',
    settings: [],
    timeoutMs,
  });

  test('abandons its mirror after a timeout and fetches into a new one', async () => {
    const folder = path.join(core.folder, 'm');
    const own = createMirrors({
      folder,
      home: { folder: core.folder, env: { PATH: process.env['PATH'] ?? '' } },
      maxBytes: 2 ** 22,
    });
    server.answerWith(() => undefined); // never
    expect(await own.fetch(request('co_1', 300))).toMatchObject({ ok: false, fault: { why: 'too_late' } });
    writeFileSync(path.join(folder, readdirSync(folder)[0] ?? '', 'shallow.lock'), '');
    server.answerWith(null);
    expect(await own.fetch(request('co_2', 20_000))).toMatchObject({ ok: true, sha: second });
    expect(readdirSync(folder)).toHaveLength(2);
    const kept = readdirSync(folder).find((name) => name.endsWith('.1')) ?? '';
    await own.sweep(new Set([kept]), () => true);
    expect(readdirSync(folder)).toEqual([kept]);
  });

  test('abandons its mirror after the kernel has killed git, and says so', async () => {
    const folder = path.join(core.folder, 'm');
    const bin = path.join(core.folder, 'bin');
    const PATH = process.env['PATH'] ?? '';
    mkdirSync(bin);
    const script = `#!/bin/sh\nif [ "$1" = fetch ]; then : > shallow.lock; kill -9 $$; fi\nPATH='${PATH}' exec git "$@"\n`;
    writeFileSync(path.join(bin, 'git'), script, { mode: 0o755 });
    const mirrorsOf = (programs: string) =>
      createMirrors({ folder, home: { folder: core.folder, env: { PATH: programs } }, maxBytes: 2 ** 22 });
    expect(await mirrorsOf(`${bin}:${PATH}`).fetch(request('co_1', 20_000))).toMatchObject({
      ok: false,
      fault: { why: 'failed', text: expect.stringContaining('was ended by a signal') },
    });
    expect(await mirrorsOf(PATH).fetch(request('co_2', 20_000))).toMatchObject({ ok: true, sha: second });
  });

  test('leaves partial folders that are removed at the next start', async () => {
    const whole = await obtain();
    const root = path.join(core.folder, 'checkouts');
    for (const half of ['drafts/draft_1/.git', 'trees/co_1k82k7r320039mw21d8/tree', 'trees/odd'])
      mkdirSync(path.join(root, half), { recursive: true });
    writeFileSync(path.join(root, 'trees/odd/checkout.json'), '{"id":"odd"');
    const store = await openCheckoutStore(root);
    expect([readdirSync(path.join(root, 'trees')), existsSync(path.join(root, 'drafts'))]).toEqual([[whole.id], false]);
    expect(store.all().map(({ id }) => id)).toEqual([whole.id]);
  });
});
