import type { GitHubServer } from '@svc/testing/github-server/index.ts';
import type { GitHubComment, GitHubIssue } from '@svc/testing/github-server/github-store.ts';
import { type GivenUp, saysGivenUp } from '../killed-chat/given-up.ts';
import { editIntervalMs } from './issues-service.ts';

/** A message and its expected answer; null where the bot is not mentioned. `at`: its time by `performance.now()`. */
export type Asked = { issue: GitHubIssue; name: string; comment: GitHubComment; answer: string | null; at: number };

const withoutMark = (body: string): string => body.replace(/\n*<!-- svc:[^>]*-->\s*$/, '');
const plain = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
/** The message that a comment of the bot answers: each part names it. */
const answeredBy = (body: string): string | undefined => / (comment-\d+) -->\s*$/.exec(body)?.[1];

const ownOf = (server: GitHubServer, issue: GitHubIssue) => issue.comments.filter(({ user }) => user === server.bot);

export const isAnswered = (server: GitHubServer, { issue, comment, answer }: Asked): boolean =>
  answer === null || shownTo(server, issue, comment) === plain(answer);

/** The text of all parts of an answer. */
const shownTo = (server: GitHubServer, issue: GitHubIssue, comment: GitHubComment): string =>
  plain(
    answersTo(server, issue, comment)
      .map(({ body }) => withoutMark(body))
      .join(' '),
  );

/** Where the shown answer differs from the expected one. */
function difference(server: GitHubServer, { issue, comment, answer }: Asked): string {
  const [shown, expected] = [shownTo(server, issue, comment), plain(answer ?? '')];
  let at = 0;
  while (at < expected.length && shown[at] === expected[at]) at++;
  const around = (text: string) => JSON.stringify(text.slice(Math.max(0, at - 40), at + 40));
  return `at ${at} of ${expected.length}: shown ${around(shown)}, expected ${around(expected)}`;
}

/** The parts of an answer, in order. In a busy issue other comments and answers may be between them. */
const answersTo = (server: GitHubServer, issue: GitHubIssue, { id }: GitHubComment): GitHubComment[] =>
  ownOf(server, issue).filter(({ body }) => answeredBy(body) === `comment-${id}`);

const isGivenUp = (server: GitHubServer, { issue, comment, name }: Asked, failed: ReadonlySet<string>): boolean => {
  const [only, ...more] = answersTo(server, issue, comment);
  return failed.has(name) && more.length === 0 && saysGivenUp(only?.body ?? '');
};

/** Every broken rule, and the messages that were given up. `failed`: names of the messages whose turns the core lists as failed. */
export function findBroken(
  server: GitHubServer,
  asked: readonly Asked[],
  failed: ReadonlySet<string>,
): { broken: string[]; givenUp: GivenUp[] } {
  const open = asked.filter((one) => !isAnswered(server, one));
  const givenUp = open.filter((one) => isGivenUp(server, one, failed));
  const broken = open
    .filter((one) => !givenUp.includes(one))
    .map(
      (one) =>
        `not answered once: ${one.name} in ${one.issue.number}, ${difference(server, one)}: ${JSON.stringify(answersTo(server, one.issue, one.comment).map(({ body }) => body.slice(0, 80)))}`,
    );
  const wanted = new Set(asked.filter(({ answer }) => answer !== null).map(({ comment }) => `comment-${comment.id}`));
  for (const issue of new Set(asked.map((one) => one.issue)))
    for (const { body } of ownOf(server, issue)) {
      const name = answeredBy(body);
      if (name === undefined || !wanted.has(name)) broken.push(`left over in ${issue.number}: ${body.slice(0, 80)}`);
    }
  return {
    broken: [...broken, ...tooManyEdits(server)],
    givenUp: givenUp.map(({ name, issue, at }) => ({ name, place: issue, at })),
  };
}

/** The edits of a comment, by all processes: at most 60, and none before the interval, except the last one, which is the answer. */
function tooManyEdits({ calls }: GitHubServer): string[] {
  const edits = calls.filter(({ method }) => method === 'PATCH');
  return [...Map.groupBy(edits, ({ path }) => path)].flatMap(([path, own]) => {
    const tooSoon = own.slice(1, -1).filter(({ at }, n) => at - (own[n]?.at ?? 0) < editIntervalMs / 2).length;
    return own.length > 60 || tooSoon > 3 ? [`${own.length} edits of ${path}, ${tooSoon} too soon`] : [];
  });
}
