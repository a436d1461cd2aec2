import type { Action, HandleResult, Outcome } from '@svc/contract/turn.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { Extra } from './settle-reply.ts';
import type { ReplyFile, ReplyPlatform } from './reply-platform.ts';

/** Texts for cases in which the assistant says nothing. */
export type ReplyWords = {
  /** A line for a turn that ended with this outcome and without a text; null for none. Default: null. */
  ended(outcome: Outcome): string | null;
  /** A line for a turn that failed; null for none. */
  failed(error: unknown): string | null;
  /** Takes the place of a file where the platform accepts none. */
  file(name: string): string;
};

export const usualWords: ReplyWords = {
  ended: () => null,
  failed: (error) => `⚠️ ${error instanceof ServiceError ? error.message : 'Something went wrong. Try again.'}`,
  file: (name) => `📎 ${name}`,
};

export type ReplyContent = { text: string; extras: Extra[] };

type ContentPlatform = Pick<ReplyPlatform, 'file' | 'albums' | 'textWithFiles' | 'attach' | 'react'>;
type ContentDeps = { platform: ContentPlatform; words: ReplyWords; answers?: string };

/** What to show of a result. What the platform cannot do becomes text; an unknown action is left out. */
export function contentOf({ actions, outcome }: Pick<HandleResult, 'actions' | 'outcome'>, deps: ContentDeps): ReplyContent {
  const { platform, words, answers } = deps;
  const texts: string[] = [];
  const files: ReplyFile[] = [];
  const reactions: Extra[] = [];
  let spare = '';
  for (const action of actions) {
    if (action.type === 'reply') texts.push(action.text);
    else if (action.type === 'file') addFile(action);
    else if (action.type === 'react') addReaction(action);
  }

  function addFile({ path, name, mime }: Extract<Action, { type: 'file' }>): void {
    if (platform.file === undefined) texts.push(words.file(name));
    else files.push({ path, name, mime });
  }

  function addReaction({ emoji }: Extract<Action, { type: 'react' }>): void {
    const { react } = platform;
    if (react === undefined || answers === undefined) spare += emoji;
    else reactions.push((place) => react({ ...place, to: answers, emoji }));
  }

  const whole = texts.filter((each) => each.trim() !== '').join('\n\n');
  const { text, extras } = contentWithFiles(whole, files, deps);
  if (text !== '' || extras.length + reactions.length > 0) return { text, extras: [...extras, ...reactions] };
  return { text: spare === '' ? (words.ended(outcome) ?? '') : spare, extras: [] };
}

/** A text with files as the platform shows them: files made from the text come first, and files of one album form one message. */
export function contentWithFiles(
  whole: string,
  files: readonly ReplyFile[],
  { platform: { file, albums, textWithFiles, attach }, answers }: Omit<ContentDeps, 'words'>,
): ReplyContent {
  if (file === undefined) return { text: whole, extras: [] };
  const attached = attach?.(whole) ?? { text: whole, files: [] };
  const all = [...attached.files, ...files];
  const [first] = all;
  const isCaption = textWithFiles === true && first !== undefined;
  if (isCaption) all[0] = withText(first, attached.text);
  const about = answers === undefined ? {} : { answers };
  const groups = albums?.group(all) ?? all.map((each) => [each]);
  const extras = groups.map((group): Extra => {
    const [only] = group;
    if (albums !== undefined && group.length > 1) {
      const post: Extra = (place) => albums.post({ ...place, files: group, ...about });
      return Object.assign(post, { writes: albums.countsEach === true ? group.length : 1 });
    }
    return (place) => file({ ...place, ...only!, ...about });
  });
  return { text: isCaption ? '' : attached.text, extras };
}

const withText = (file: ReplyFile, text: string): ReplyFile => ({
  ...file,
  caption: [text, file.caption ?? ''].filter((each) => each !== '').join('\n\n'),
});
