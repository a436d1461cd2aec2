import { nodeOf, type GitHubComment, type GitHubIssue, type GitHubRepo, type GitHubUser } from './github-store.ts';

const at = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');
const site = 'https://github.test';
const named = (base: string, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [`${name}_url`, `${base}/${name}`]));

const userLinks = [
  'avatar',
  'html',
  'followers',
  'following',
  'gists',
  'starred',
  'subscriptions',
  'organizations',
  'repos',
  'events',
  'received_events',
];

export const userPayload = (user: GitHubUser) => ({
  login: user.login,
  id: user.id,
  node_id: nodeOf(user),
  gravatar_id: '',
  url: `${site}/users/${user.login}`,
  ...named(`${site}/${user.login}`, userLinks),
  type: user.type,
  site_admin: false,
});

/** The account of a token. */
export const ownPayload = (user: GitHubUser) => ({
  ...userPayload(user),
  ...Object.fromEntries(['name', 'company', 'blog', 'location', 'email', 'hireable', 'bio'].map((name) => [name, null])),
  blog: '',
  public_repos: 0,
  public_gists: 0,
  followers: 0,
  following: 0,
  created_at: at(0),
  updated_at: at(0),
});

const repoUrl = ({ owner, name }: GitHubRepo) => `${site}/repos/${owner}/${name}`;

const written = (one: GitHubComment) => ({
  id: one.id,
  node_id: nodeOf(one),
  user: userPayload(one.user),
  body: one.body,
  created_at: at(one.createdAt),
  updated_at: at(one.updatedAt),
  author_association: one.user.association,
});

export const commentPayload = (repo: GitHubRepo, issue: GitHubIssue, comment: GitHubComment) => ({
  ...written(comment),
  url: `${repoUrl(repo)}/issues/comments/${comment.id}`,
  html_url: `${site}/${repo.owner}/${repo.name}/${issue.pull === null ? 'issues' : 'pull'}/${issue.number}#issuecomment-${comment.id}`,
  issue_url: `${repoUrl(repo)}/issues/${issue.number}`,
});

const labelPayload = (name: string, n: number) => ({
  id: n + 1,
  node_id: `LABEL_${name}`,
  url: `${site}/labels/${encodeURIComponent(name)}`,
  name,
  description: null,
  color: 'ededed',
  default: false,
});

export const labelPayloads = ({ labels }: GitHubIssue) => labels.map(labelPayload);

export function issuePayload(repo: GitHubRepo, issue: GitHubIssue) {
  const url = `${repoUrl(repo)}/issues/${issue.number}`;
  const html = `${site}/${repo.owner}/${repo.name}/${issue.pull === null ? 'issues' : 'pull'}/${issue.number}`;
  return {
    ...written(issue),
    url,
    repository_url: repoUrl(repo),
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: html,
    number: issue.number,
    title: issue.title,
    state: issue.state,
    state_reason: issue.state === 'closed' ? 'completed' : null,
    labels: labelPayloads(issue),
    locked: false,
    assignee: null,
    assignees: [],
    milestone: null,
    comments: issue.comments.length,
    closed_at: issue.state === 'closed' ? at(issue.updatedAt) : null,
    ...(issue.pull !== null && {
      pull_request: { url: html, html_url: html, diff_url: `${html}.diff`, patch_url: `${html}.patch` },
    }),
  };
}

export const filePayloads = ({ pull }: GitHubIssue) =>
  (pull?.files ?? []).map(({ filename, patch }) => ({
    sha: '0'.repeat(40),
    filename,
    status: 'modified',
    additions: 1,
    deletions: 0,
    changes: 1,
    blob_url: `${site}/blob`,
    raw_url: `${site}/raw`,
    contents_url: `${site}/contents`,
    patch,
  }));

export const notePayloads = (repo: GitHubRepo, issue: GitHubIssue) =>
  (issue.pull?.notes ?? []).map(({ path, body, by }, n) => ({
    url: `${repoUrl(repo)}/pulls/comments/${n}`,
    id: n + 1,
    node_id: `NOTE_${n}`,
    pull_request_review_id: null,
    diff_hunk: '@@ -1 +1 @@',
    path,
    commit_id: '0'.repeat(40),
    original_commit_id: '0'.repeat(40),
    user: userPayload(by),
    body,
    created_at: at(issue.createdAt),
    updated_at: at(issue.updatedAt),
    html_url: `${site}/pull`,
    pull_request_url: `${site}/pull`,
    author_association: by.association,
    _links: { self: { href: site }, html: { href: site }, pull_request: { href: site } },
  }));

const repoLinks =
  'archive assignees blobs branches collaborators comments commits compare contents contributors deployments downloads events forks git_commits git_refs git_tags hooks issue_comment issue_events issues keys labels languages merges milestones notifications pulls releases stargazers statuses subscribers subscription tags teams trees html clone git ssh svn mirror';
const noCounts =
  'forks forks_count open_issues open_issues_count size stargazers_count watchers watchers_count network_count subscribers_count';

export const repoPayload = (repo: GitHubRepo, user: GitHubUser) => ({
  id: 1,
  node_id: `REPO_${repo.name}`,
  name: repo.name,
  full_name: `${repo.owner}/${repo.name}`,
  owner: userPayload({ id: 1, login: repo.owner, type: 'User', association: 'OWNER' }),
  private: repo.isPrivate,
  url: repoUrl(repo),
  ...named(repoUrl(repo), repoLinks.split(' ')),
  ...Object.fromEntries(noCounts.split(' ').map((name) => [name, 0])),
  default_branch: 'main',
  description: null,
  homepage: null,
  language: null,
  license: null,
  fork: false,
  has_issues: true,
  has_projects: false,
  has_wiki: false,
  has_pages: false,
  has_discussions: false,
  archived: false,
  disabled: false,
  pushed_at: at(0),
  created_at: at(0),
  updated_at: at(0),
  permissions: { admin: false, maintain: false, push: false, triage: user.association !== 'NONE', pull: true },
});
