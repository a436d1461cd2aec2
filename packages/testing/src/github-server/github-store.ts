import type { Clock } from '@svc/service-kit/clock.ts';

/** An author's association with the repository, as GitHub reports it. */
export type Association = 'OWNER' | 'MEMBER' | 'COLLABORATOR' | 'CONTRIBUTOR' | 'FIRST_TIME_CONTRIBUTOR' | 'NONE';

export type GitHubUser = { id: number; login: string; type: 'User' | 'Bot'; association: Association };
export type GitHubFile = { filename: string; patch: string };
export type GitHubPull = {
  branch: string;
  sha: string;
  files: GitHubFile[];
  notes: { path: string; body: string; by: GitHubUser }[];
};
export type GitHubComment = {
  id: number;
  user: GitHubUser;
  /** Who edited it last, and when. */
  edited: { by: GitHubUser; at: number } | null;
  body: string;
  createdAt: number;
  updatedAt: number;
  reactions: string[];
};
export type GitHubIssue = GitHubComment & {
  number: number;
  title: string;
  state: 'open' | 'closed';
  labels: string[];
  pull: GitHubPull | null;
  comments: GitHubComment[];
};
export type GitHubRepo = { owner: string; name: string; isPrivate: boolean; issues: Map<number, GitHubIssue> };

/** The data of the server. As on GitHub, all ids share a counter, and times are in whole seconds. */
export type GitHubStore = ReturnType<typeof createStore>;

/** Deleted objects, which cannot be found. */
export type Deleted = { repo: GitHubRepo; issue: number; comment: GitHubComment };

export function createStore(clock: Pick<Clock, 'now'>, aheadMs: number) {
  const users = new Map<string, GitHubUser>();
  const repos = new Map<string, GitHubRepo>();
  const deleted: Deleted[] = [];
  let ids = 100;
  const nextId = () => ++ids;
  const now = () => Math.floor((clock.now() + aheadMs) / 1000) * 1000;
  const keyOf = (owner: string, name: string) => `${owner}/${name}`.toLowerCase();

  const written = (user: GitHubUser, body: string): GitHubComment => {
    const at = now();
    return { id: nextId(), user, edited: null, body, createdAt: at, updatedAt: at, reactions: [] };
  };

  return {
    now,
    users,
    deleted,
    user(login: string, fields: Partial<Pick<GitHubUser, 'type' | 'association'>> = {}): GitHubUser {
      const user: GitHubUser = { id: nextId(), login, type: 'User', association: 'NONE', ...fields };
      users.set(login.toLowerCase(), user);
      return user;
    },
    repo(owner: string, name: string, isPrivate: boolean): GitHubRepo {
      const repo: GitHubRepo = { owner, name, isPrivate, issues: new Map() };
      repos.set(keyOf(owner, name), repo);
      return repo;
    },
    find: (owner: string, name: string): GitHubRepo | undefined => repos.get(keyOf(owner, name)),
    open(repo: GitHubRepo, user: GitHubUser, fields: { title: string; body: string; pull?: GitHubPull; labels?: string[] }) {
      const { title, body, pull = null, labels = [] } = fields;
      const number = repo.issues.size + 1;
      const issue: GitHubIssue = { ...written(user, body), number, title, state: 'open', labels, pull, comments: [] };
      repo.issues.set(number, issue);
      return issue;
    },
    comment(issue: GitHubIssue, user: GitHubUser, body: string): GitHubComment {
      const comment = written(user, body);
      issue.comments.push(comment);
      issue.updatedAt = comment.updatedAt;
      return comment;
    },
    edit(one: GitHubComment, body: string, by: GitHubUser): void {
      one.body = body;
      one.updatedAt = now();
      one.edited = { by, at: one.updatedAt };
    },
    commentOf(repo: GitHubRepo, id: number): { issue: GitHubIssue; comment: GitHubComment } | undefined {
      for (const issue of repo.issues.values()) {
        const comment = issue.comments.find((each) => each.id === id);
        if (comment !== undefined) return { issue, comment };
      }
      return undefined;
    },
    remove(repo: GitHubRepo, issue: GitHubIssue, comment: GitHubComment): void {
      issue.comments = issue.comments.filter((each) => each !== comment);
      deleted.push({ repo, issue: issue.number, comment });
    },
    byNode(id: string): GitHubComment | undefined {
      for (const repo of repos.values())
        for (const issue of repo.issues.values())
          for (const each of [issue, ...issue.comments]) if (nodeOf(each) === id) return each;
      return undefined;
    },
  };
}

export const nodeOf = ({ id }: { id: number }): string => `NODE_${id}`;
