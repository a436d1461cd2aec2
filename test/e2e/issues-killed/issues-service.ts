import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { startGitHubServer, type GitHubServer, type GitHubServerOptions } from '@svc/testing/github-server/index.ts';
import type { GitHubIssue, GitHubUser } from '@svc/testing/github-server/github-store.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { scriptText } from '../channel-killed/engine-script.ts';
import { openKillableService, type KillableService } from '../channel-killed/killable-service.ts';

/** The service with one account on the test's GitHub server, in one repository. */
export type IssuesService = KillableService & { server: GitHubServer; issues: GitHubIssue[]; people: GitHubUser[] };

/** With real times the test would take hours: GitHub's are shortened, and the connector's by the same factor. */
export const editIntervalMs = 250;
const times = { poll_interval_ms: 300, write_interval_ms: 20, edit_interval_ms: editIntervalMs };

export async function openIssuesService(count: number, options: GitHubServerOptions): Promise<IssuesService> {
  const folder = temporaryFolder();
  const server = await startGitHubServer(options);
  const closeServer = async () => {
    await server.close();
    folder.remove();
  };
  const people = ['ann', 'bob', 'cat'].map((login) => server.user(login, { association: 'MEMBER' }));
  const repo = server.repo('ann', 'demo', false);
  const issues = Array.from({ length: count }, (_, n) => server.open(repo, people[0]!, { title: `Issue ${n}`, body: 'text' }));
  writeDataFolder(folder.path, server.token, people);
  try {
    const service = await openKillableService({
      dataDir: folder.path,
      type: 'issues',
      config: {
        repos: [{ owner: 'ann', repo: 'demo' }],
        pat_secret_key: 'TOKEN',
        api_url: server.apiUrl,
        dry_run: false,
        clone_repos: false,
        reactions: false,
        ...times,
      },
      env: { SVC_OFFLINE_SCRIPT: path.join(folder.path, 'script.mjs'), SVC_COMPAT_PORT: '0' },
      cutConnections: () => server.cutConnections(),
    });
    return { ...service, server, issues, people, close: () => service.close().then(closeServer) };
  } catch (error) {
    await closeServer();
    throw error;
  }
}

function writeDataFolder(dir: string, token: string, people: readonly GitHubUser[]): void {
  // Below the request are earlier messages.
  writeFileSync(path.join(dir, 'script.mjs'), scriptText.replace('.at(-1)', '.at(0)'));
  writeFileSync(path.join(dir, 'secrets.json'), JSON.stringify({ TOKEN: token }), { mode: 0o600 });
  const principals = people.map(({ login }) => ({
    key: login,
    role: 'trusted',
    identifiers: [{ surface: 'issues', value: login }],
  }));
  writeFileSync(path.join(dir, 'trust.seed.json'), JSON.stringify({ principals }));
}
