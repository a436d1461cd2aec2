import { onTestFinished } from 'vitest';
import type { StartContext } from '@svc/connector-kit/connector.ts';
import type { RunningConnector } from '@svc/connector-kit';
import { defaultsOf, fakeContext, type FakeContext } from '@svc/connector-kit/testing/fake-context.ts';
import { startGitHubServer, type GitHubServer, type GitHubServerOptions } from '@svc/testing/github-server/index.ts';
import type { GitHubIssue, GitHubRepo, GitHubUser } from '@svc/testing/github-server/github-store.ts';
import { createFastClock } from '@svc/testing/fast-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { meta, start } from '../src/index.ts';
import type { Config } from '../src/meta.ts';

export type OpenIssues = Omit<FakeContext, 'core' | 'logs'> & {
  server: GitHubServer;
  ann: GitHubUser;
  repo: GitHubRepo;
  live(): RunningConnector;
  core: FakeContext['core'];
  logs: string[];
  /** Texts of the account in an issue, without their marks. */
  shown(issue: GitHubIssue): string[];
  restart(): Promise<void>;
};

type Options = {
  config?: Partial<Config>;
  server?: GitHubServerOptions;
  /** Before it is started. */
  before?(server: GitHubServer, repo: GitHubRepo, ann: GitHubUser): void;
  /** Who may nothing. */
  strangers?: readonly string[];
  isPrivate?: boolean;
};

/** The connector on a server of GitHub's API, with a scripted core, in no dry run. All that it asks is checked against GitHub's description. */
export async function openIssues({
  config,
  server: options,
  before,
  strangers = [],
  isPrivate = false,
}: Options = {}): Promise<OpenIssues> {
  const folder = temporaryFolder();
  const clock = createFastClock(4);
  const server = await startGitHubServer({ clock, ...options });
  const ann = server.user('ann', { association: 'OWNER' });
  const repo = server.repo('ann', 'demo', isPrivate);
  before?.(server, repo, ann);
  const logs: string[] = [];
  const open = async () => {
    const fake = fakeContext(
      {
        type: meta.type,
        dataDir: folder.path,
        config: {
          ...defaultsOf(meta),
          repos: [{ owner: 'ann', repo: 'demo' }],
          pat_secret_key: 'TOKEN',
          api_url: server.apiUrl,
          poll_interval_ms: 200,
          write_interval_ms: 0,
          edit_interval_ms: 50,
          dry_run: false,
          reactions: false,
          ...config,
        },
      },
      { TOKEN: server.token, HOOK: 'the secret of the hook' },
    );
    const { resolve } = fake.core;
    fake.core.resolve = async (envelope) => {
      const identity = await resolve(envelope);
      const isStranger = strangers.includes(envelope.sender.raw_id) || envelope.sender.raw_id.includes(':');
      return isStranger ? { ...identity, denied: true, denial: 'unknown_sender', tool_policy: 'none' } : identity;
    };
    const { log } = fake.context;
    fake.context.log = (level, message, fields) => {
      logs.push(JSON.stringify({ level, message, ...fields }));
      log(level, message, fields);
    };
    return { fake, running: await start(fake.context as unknown as StartContext<Config>, clock) };
  };
  let { fake, running } = await open();
  const stop = async () => {
    fake.shutdown.abort();
    await running.stop();
  };
  onTestFinished(async () => {
    await stop();
    await server.close();
    folder.remove();
    const { violations } = server;
    if (violations.length > 0) throw new Error(violations.slice(0, 5).join('\n'));
  });
  return {
    ...fake,
    server,
    ann,
    repo,
    logs,
    live: () => running,
    get core() {
      return fake.core;
    },
    shown: (issue) =>
      issue.comments.filter(({ user }) => user === server.bot).map(({ body }) => body.replace(/\n*<!-- svc:[^>]*-->$/, '')),
    async restart() {
      await stop();
      ({ fake, running } = await open());
    },
  };
}
