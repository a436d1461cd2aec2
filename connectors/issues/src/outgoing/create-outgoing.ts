import {
  createChatGate,
  createReplyWriter,
  errorText,
  systemClock,
  type Clock,
  type CoreApi,
  type Envelope,
  type ReplyWriter,
  type StartContext,
} from '@svc/connector-kit';
import type { Account } from '../github/find-account.ts';
import type { GitHubApi } from '../github/github-api.ts';
import type { GitHubPost } from '../incoming/github-post.ts';
import { meta, type Config } from '../meta.ts';
import { createDryRun } from './dry-run.ts';
import { createHourlyBudget } from './hourly-budget.ts';
import { toTarget } from './issue-place.ts';
import { createOpenReplies } from './open-replies.ts';
import { createOwnComments, type OwnComments } from './own-comments.ts';
import { createReplyPlatform } from './reply-platform.ts';
import { createShowWork } from './show-work.ts';
import { watchWorkingComment, type WatchDeps } from './watch-working-comment.ts';

export type OutgoingDeps = Pick<StartContext<Config>, 'state' | 'log' | 'signal' | 'config'> & {
  core: { sessions: Pick<CoreApi['sessions'], 'abort'> };
  api: GitHubApi;
  account: Account;
  clock?: Clock;
};

/** Everything that is sent to GitHub. */
export type Outgoing = ReplyWriter & {
  own: OwnComments;
  /** Whether the assistant waits for an answer there. */
  isAsked(target: string): boolean;
  /** Marks a post as seen. Rejects only when its signal aborts. */
  seen(post: GitHubPost, signal: AbortSignal): Promise<void>;
  /** Counts a comment that is not a reply. Rejects with `busy` after too many within an hour. */
  count(): Promise<void>;
  /** Runs a write that is not a reply, at the same pace. */
  paced<T>(target: string, write: () => Promise<T>, signal: AbortSignal): Promise<T>;
};

/** Maximum length of a comment: mentions may grow by a character each, and the mark is added at the end. */
const limit = 60_000;
/** Maximum number of edits while a turn runs; the end is one more. */
const mostEdits = 58;
/** Edits slow down to this, from the first interval on. */
const slowest = 3;
/** The working comment is checked once per this many polls. */
const looksEach = 3;
/** GitHub takes 500 an hour. */
const commentsPerHour = 480;

export async function createOutgoing(deps: OutgoingDeps): Promise<Outgoing> {
  const { state, log, signal, config, api, account, clock = systemClock } = deps;
  const { write_interval_ms: everyMs, edit_interval_ms: editMs } = config;
  const gate = createChatGate({ clock, perMs: everyMs, allMs: everyMs, followsAnother: true });
  const count = createHourlyBudget(everyMs < 1000 ? Infinity : commentsPerHour, { clock, state, log });
  const own = createOwnComments(api, account.id);
  const turns = createOpenReplies();

  /** Deleting the comment that shows a turn stops the turn. */
  function gone(name: string | undefined): void {
    const envelope = turns.running(name);
    if (envelope === undefined) return;
    const { conversation_key, sender } = envelope;
    const as = { channel: meta.type, sender, ...(envelope.public === true && { public: true }) };
    deps.core.sessions.abort(as, conversation_key).catch((error: unknown) => {
      log('info', 'the comment of a turn was deleted, but the turn could not be stopped', {
        conversation: conversation_key,
        error: errorText(error),
      });
    });
  }

  const watchDeps: WatchDeps = {
    api,
    clock,
    log,
    signal,
    everyMs: looksEach * config.poll_interval_ms,
    isRunning: (name) => turns.running(name) !== undefined,
    gone,
  };
  const platform = config.dry_run
    ? createDryRun(log)
    : createReplyPlatform({
        api,
        repos: config.repos,
        own,
        addressed: turns.askerOf,
        gone,
        posted: (comment) => watchWorkingComment(watchDeps, comment),
        count,
      });
  const isLive = config.stream && !config.dry_run;
  const writer = createReplyWriter({
    ...platform,
    state,
    log,
    signal,
    clock,
    limit,
    gate,
    style: config.dry_run ? 'final' : 'stream',
    ...(!config.dry_run && { showWork: createShowWork(limit - 2000) }),
    liveEveryMs: (writes) => (!isLive ? null : Math.min(editMs * (1 + writes / 10), editMs * slowest)),
    mostLive: mostEdits,
    unsure: 'repeat',
    whenGone: 'end',
    chatOf: targetOf,
  });

  return {
    openReply: turns.watching(writer.openReply, targetOf),
    isAsked: turns.isAsked,
    send: writer.send,
    own,
    count,
    paced: (target, write, ended) => gate.run(target, write, { signal: ended, withinMs: 30_000 }),
    async seen(post, ended) {
      if (config.dry_run || !config.reactions) return;
      try {
        await gate.offer(toTarget(post.place), () => react(api, post, ended));
      } catch (error) {
        ended.throwIfAborted();
        log('debug', 'a reaction could not be added', { error: errorText(error) });
      }
    },
  };
}

const react = (api: GitHubApi, { kind, place, id }: GitHubPost, signal: AbortSignal): Promise<unknown> =>
  kind === 'comment'
    ? api.write(
        'POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions',
        { owner: place.owner, repo: place.repo, comment_id: id, content: 'eyes' },
        signal,
      )
    : api.write('POST /repos/{owner}/{repo}/issues/{issue_number}/reactions', { ...place, content: 'eyes' }, signal);

function targetOf({ channel_context }: Envelope): string {
  const target = channel_context?.['target'];
  if (typeof target === 'string') return target;
  throw new Error('An envelope names no issue in its channel_context.');
}
