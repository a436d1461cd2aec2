import {
  commentPayload,
  filePayloads,
  issuePayload,
  labelPayloads,
  notePayloads,
  ownPayload,
  repoPayload,
} from './github-payloads.ts';
import type { GitHubIssue, GitHubRepo, GitHubStore, GitHubUser } from './github-store.ts';

/** A call of the user to whom its token belongs. */
export type Call = { method: string; path: string; query: URLSearchParams; body: Record<string, unknown>; user: GitHubUser };
export type Answer = { status: number; body: unknown };

type Handler = (call: Call, store: GitHubStore, ...parts: string[]) => Answer;

/** Longest text of an issue or a comment, in characters. */
const longestBody = 65_536;

const ok = (body: unknown, status = 200): Answer => ({ status, body });
const notFound: Answer = {
  status: 404,
  body: { message: 'Not Found', documentation_url: 'https://docs.github.com/rest', status: '404' },
};
const tooLong: Answer = {
  status: 422,
  body: {
    message: 'Validation Failed',
    errors: [
      {
        resource: 'IssueComment',
        code: 'unprocessable',
        field: 'data',
        message: 'Body is too long (maximum is 65536 characters)',
      },
    ],
  },
};

const inRepo =
  (handle: (repo: GitHubRepo, call: Call, store: GitHubStore, ...rest: string[]) => Answer): Handler =>
  (call, store, owner = '', name = '', ...rest) => {
    const repo = store.find(owner, name);
    return repo === undefined ? notFound : handle(repo, call, store, ...rest);
  };

const inIssue = (
  handle: (at: { repo: GitHubRepo; issue: GitHubIssue }, call: Call, store: GitHubStore, rest: string) => Answer,
): Handler =>
  inRepo((repo, call, store, number = '', rest = '') => {
    const issue = repo.issues.get(Number(number));
    return issue === undefined ? notFound : handle({ repo, issue }, call, store, rest);
  });

const place = '/repos/([^/]+)/([^/]+)';
const routes: [method: string, pattern: RegExp, handle: Handler][] = [
  ['GET', /^\/user$/, ({ user }) => ok(ownPayload(user))],
  ['GET', new RegExp(`^${place}$`), inRepo((repo, { user }) => ok(repoPayload(repo, user)))],
  ['GET', new RegExp(`^${place}/issues$`), inRepo(listIssues)],
  ['GET', new RegExp(`^${place}/issues/comments$`), inRepo(listComments)],
  ['GET', new RegExp(`^${place}/issues/comments/(\\d+)$`), inRepo(oneComment)],
  ['PATCH', new RegExp(`^${place}/issues/comments/(\\d+)$`), inRepo(editComment)],
  ['DELETE', new RegExp(`^${place}/issues/comments/(\\d+)$`), inRepo(removeComment)],
  ['POST', new RegExp(`^${place}/issues/comments/(\\d+)/reactions$`), inRepo(reactToComment)],
  ['GET', new RegExp(`^${place}/issues/(\\d+)$`), inIssue(({ repo, issue }) => ok(issuePayload(repo, issue)))],
  ['PATCH', new RegExp(`^${place}/issues/(\\d+)$`), inIssue(changeIssue)],
  ['GET', new RegExp(`^${place}/issues/(\\d+)/comments$`), inIssue(commentsOfIssue)],
  ['POST', new RegExp(`^${place}/issues/(\\d+)/comments$`), inIssue(addComment)],
  ['POST', new RegExp(`^${place}/issues/(\\d+)/labels$`), inIssue(addLabels)],
  ['DELETE', new RegExp(`^${place}/issues/(\\d+)/labels/([^/]+)$`), inIssue(removeLabel)],
  ['POST', new RegExp(`^${place}/issues/(\\d+)/reactions$`), inIssue(({ issue }, { body, user }) => react(issue, body, user))],
  ['GET', new RegExp(`^${place}/pulls/(\\d+)/files$`), inIssue(({ issue }) => ok(filePayloads(issue)))],
  ['GET', new RegExp(`^${place}/pulls/(\\d+)/comments$`), inIssue(({ repo, issue }) => ok(notePayloads(repo, issue)))],
];

/** Executes a call. */
export function runCall(call: Call, store: GitHubStore): Answer {
  for (const [method, pattern, handle] of routes) {
    const match = method === call.method ? pattern.exec(call.path) : null;
    if (match !== null) return handle(call, store, ...match.slice(1).map(decodeURIComponent));
  }
  return notFound;
}

/** Whether a call creates content that notifies others. */
export const makesText = ({ method, path }: Pick<Call, 'method' | 'path'>): boolean =>
  method === 'POST' && path.endsWith('/comments');

function page<T>(items: readonly T[], query: URLSearchParams): T[] {
  const size = Number(query.get('per_page') ?? 30);
  const from = (Number(query.get('page') ?? 1) - 1) * size;
  return items.slice(from, from + size);
}

function since<T extends { updatedAt: number; id: number }>(items: readonly T[], query: URLSearchParams): T[] {
  const from = Date.parse(query.get('since') ?? '') || 0;
  const found = items.filter(({ updatedAt }) => updatedAt >= from);
  if (query.get('sort') !== 'updated') return found;
  const sign = query.get('direction') === 'asc' ? 1 : -1;
  return found.toSorted((a, b) => sign * (a.updatedAt - b.updatedAt || a.id - b.id));
}

function listIssues(repo: GitHubRepo, { query }: Call): Answer {
  const state = query.get('state') ?? 'open';
  const found = [...repo.issues.values()].filter((issue) => state === 'all' || issue.state === state);
  return ok(page(since(found, query), query).map((issue) => issuePayload(repo, issue)));
}

function listComments(repo: GitHubRepo, { query }: Call): Answer {
  const issueOf = new Map([...repo.issues.values()].flatMap((issue) => issue.comments.map((comment) => [comment, issue])));
  const found = page(since([...issueOf.keys()], query), query);
  return ok(found.map((comment) => commentPayload(repo, issueOf.get(comment) as GitHubIssue, comment)));
}

function commentsOfIssue({ repo, issue }: { repo: GitHubRepo; issue: GitHubIssue }, { query }: Call): Answer {
  return ok(page(since(issue.comments, query), query).map((comment) => commentPayload(repo, issue, comment)));
}

function oneComment(repo: GitHubRepo, _call: Call, store: GitHubStore, id = ''): Answer {
  const found = store.commentOf(repo, Number(id));
  return found === undefined ? notFound : ok(commentPayload(repo, found.issue, found.comment));
}

function addComment({ repo, issue }: { repo: GitHubRepo; issue: GitHubIssue }, { body, user }: Call, store: GitHubStore): Answer {
  const text = String(body['body']);
  if (text.length > longestBody) return tooLong;
  return ok(commentPayload(repo, issue, store.comment(issue, user, text)), 201);
}

function editComment(repo: GitHubRepo, { body, user }: Call, store: GitHubStore, id = ''): Answer {
  const found = store.commentOf(repo, Number(id));
  if (found === undefined) return notFound;
  const text = String(body['body']);
  if (text.length > longestBody) return tooLong;
  store.edit(found.comment, text, user);
  return ok(commentPayload(repo, found.issue, found.comment));
}

function removeComment(repo: GitHubRepo, _call: Call, store: GitHubStore, id = ''): Answer {
  const found = store.commentOf(repo, Number(id));
  if (found === undefined) return notFound;
  store.remove(repo, found.issue, found.comment);
  return ok(undefined, 204);
}

function reactToComment(repo: GitHubRepo, { body, user }: Call, store: GitHubStore, id = ''): Answer {
  const found = store.commentOf(repo, Number(id));
  return found === undefined ? notFound : react(found.comment, body, user);
}

function react(one: { reactions: string[]; createdAt: number }, body: Record<string, unknown>, user: GitHubUser): Answer {
  const content = String(body['content']);
  one.reactions.push(content);
  const { login, id } = user;
  const by = (ownPayload(user) as { node_id: string }).node_id;
  return ok(
    {
      id: one.reactions.length,
      node_id: by,
      user: { ...ownPayload(user), login, id },
      content,
      created_at: new Date(0).toISOString(),
    },
    201,
  );
}

function changeIssue({ repo, issue }: { repo: GitHubRepo; issue: GitHubIssue }, { body }: Call, store: GitHubStore): Answer {
  if (body['state'] === 'open' || body['state'] === 'closed') issue.state = body['state'];
  issue.updatedAt = store.now();
  return ok(issuePayload(repo, issue));
}

function addLabels({ issue }: { issue: GitHubIssue }, { body }: Call, store: GitHubStore): Answer {
  issue.labels = [...new Set([...issue.labels, ...(body['labels'] as string[])])];
  issue.updatedAt = store.now();
  return ok(labelPayloads(issue));
}

function removeLabel({ issue }: { issue: GitHubIssue }, _call: Call, store: GitHubStore, name: string): Answer {
  if (!issue.labels.includes(name)) return notFound;
  issue.labels = issue.labels.filter((each) => each !== name);
  issue.updatedAt = store.now();
  return ok(labelPayloads(issue));
}
