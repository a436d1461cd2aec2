import type { Action, HandleResult, Outcome } from '@svc/contract/turn.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { Extra } from './settle-reply.ts';
import type { ReplyPlatform } from './reply-platform.ts';

/** What is said where the assistant says nothing. */
export type ReplyWords = {
  /** A line for a turn that ended so without a text; null for none, as it is unless given. */
  ended(outcome: Outcome): string | null;
  /** A line for a turn that failed; null for none. */
  failed(error: unknown): string | null;
  /** In the place of a file, where the platform takes none. */
  file(name: string): string;
};

export const usualWords: ReplyWords = {
  ended: () => null,
  failed: (error) => `⚠️ ${error instanceof ServiceError ? error.message : 'Something went wrong. Try again.'}`,
  file: (name) => `📎 ${name}`,
};

export type ReplyContent = { text: string; extras: Extra[] };

/** What a result has to be shown as. What the platform cannot do becomes words; an action that is not known is left out. */
export function contentOf(
  { actions, outcome }: Pick<HandleResult, 'actions' | 'outcome'>,
  { platform, words, answers }: { platform: Pick<ReplyPlatform, 'file' | 'react'>; words: ReplyWords; answers?: string },
): ReplyContent {
  const texts: string[] = [];
  const extras: Extra[] = [];
  let spare = '';
  for (const action of actions) {
    if (action.type === 'reply') texts.push(action.text);
    else if (action.type === 'file') addFile(action);
    else if (action.type === 'react') addReaction(action);
  }

  function addFile({ path, name, mime }: Extract<Action, { type: 'file' }>): void {
    const { file } = platform;
    if (file === undefined) texts.push(words.file(name));
    else extras.push((place) => file({ ...place, path, name, mime, ...(answers !== undefined && { answers }) }));
  }

  function addReaction({ emoji }: Extract<Action, { type: 'react' }>): void {
    const { react } = platform;
    if (react === undefined || answers === undefined) spare += emoji;
    else extras.push((place) => react({ ...place, to: answers, emoji }));
  }

  const text = texts.filter((each) => each.trim() !== '').join('\n\n');
  if (text !== '' || extras.length > 0) return { text, extras };
  return { text: spare === '' ? (words.ended(outcome) ?? '') : spare, extras };
}
