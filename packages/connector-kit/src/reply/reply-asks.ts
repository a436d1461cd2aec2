import type { Ask, AskAnswer } from '@svc/contract/ask.ts';
import { askText } from '@svc/contract/ask-text.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { Layout } from './reply-layout.ts';
import { createReplyMessages, type MessagesOptions, type ReplyMessages } from './reply-messages.ts';
import type { ReplyPlatform } from './reply-platform.ts';
import { settleReply, type SettleDeps } from './settle-reply.ts';

export type ReplyAsksDeps = MessagesOptions &
  Omit<SettleDeps, 'messages'> & {
    layout: Layout;
    /** Resolves when the replies before this one in the chat are shown. */
    inOrder(): Promise<void>;
  };

/** The questions of a turn, each in messages of its own. One that cannot be shown is logged; the core denies it in the end. */
export type ReplyAsks = {
  ask(ask: Ask): void;
  /** The question is closed: its message shows the outcome, without buttons. */
  asked(id: string, answer: AskAnswer): void;
};

type OpenAsk = { ask: Ask; messages: ReplyMessages; shown: Promise<void> };

/** The text of a closed question. */
const overText = ({ text, options }: Ask, { option, outcome }: AskAnswer): string =>
  `${text}\n→ ${options.find(({ id }) => id === option)?.label ?? `not answered (${outcome})`}`;

export function createReplyAsks(deps: ReplyAsksDeps): ReplyAsks {
  const { platform, layout, log } = deps;
  const open = new Map<string, OpenAsk>();

  /** Works across a restart: the platform, or the state, knows what has been shown. */
  async function show(ask: Ask, messages: ReplyMessages, pieces: readonly string[]): Promise<void> {
    await deps.inOrder();
    await messages.open(`ask ${ask.id}`, undefined, 'same');
    await settleReply({ ...deps, messages }, { pieces, cuts: [], extras: [], isOpen: true }, undefined);
  }

  async function close({ ask, messages, shown }: OpenAsk, answer: AskAnswer): Promise<void> {
    await shown;
    const pieces = platform.edit === undefined ? [] : layout(overText(ask, answer));
    if (pieces.length > 0) await settleReply({ ...deps, messages }, { pieces, cuts: [], extras: [] }, undefined);
    else await messages.finish();
  }

  const complain = (error: unknown) => log('warn', 'a question could not be shown', { error: errorText(error) });

  return {
    ask(ask) {
      if (open.has(ask.id)) return;
      const pieces = layout(platform.ask === undefined ? askText(ask) : ask.text);
      const isOpen = () => open.has(ask.id);
      const messages = createReplyMessages({ ...deps, platform: withButtons(platform, { ask, last: pieces.at(-1), isOpen }) });
      const shown = show(ask, messages, pieces).catch(complain);
      open.set(ask.id, { ask, messages, shown });
    },
    asked(id, answer) {
      const question = open.get(id);
      open.delete(id);
      if (question !== undefined) void close(question, answer).catch(complain);
    },
  };
}

type Question = { ask: Ask; last: string | undefined; isOpen(): boolean };

/**
 * Adds the buttons to the last message of a question. An edit would remove them, so an open question that an earlier process has shown stays
 * as it is.
 */
function withButtons(platform: ReplyPlatform, { ask, last, isOpen }: Question): ReplyPlatform {
  const { post, ask: postAsk, edit } = platform;
  if (postAsk === undefined) return platform;
  return {
    ...platform,
    post: (message) => (message.text === last ? postAsk({ ...message, ask }) : post(message)),
    ...(edit !== undefined && { edit: async (message) => (isOpen() ? undefined : edit(message)) }),
  };
}
