import type { StartContext } from '@svc/connector-kit/connector.ts';
import type { Identity } from '@svc/contract/trust.ts';
import { errorText, ServiceError } from '@svc/service-kit/service-error.ts';

type Deps = Pick<StartContext, 'state' | 'log' | 'emit'> & { allowed: readonly number[]; root(chat: number): number };
type Asked = {
  /** The chat's first id, and its present one. */
  root: number;
  chat: number;
  /** The message contains an invitation code, which the core checks: being the first writer must not keep invited people out. */
  isInvited: boolean;
  resolve(): Promise<Identity>;
};

/** Which chats are answered at all. What people may do in them is decided by the core. */
export type ChatAccess = {
  mayTalk(asked: Asked): Promise<boolean>;
  /** Whether a chat may be answered, for what follows a message, such as its edit. Changes nothing. */
  isOpen(chat: number): boolean;
  /** Checks whether something may be sent to a target. @throws ServiceError `unprocessable` */
  checkTarget(target: string | undefined): void;
};

type Learned = { chat: number | null; isOver: boolean };
const key = 'learned-chat';

/**
 * If the config lists chats, only those are answered. Otherwise the first chat that writes is the only one, until the core knows a person
 * of this channel: from then on people are told apart, whatever chat they write in.
 */
export async function openChatAccess({ state, log, emit, allowed, root: rootOf }: Deps): Promise<ChatAccess> {
  const kept = await state.get<Learned>(key);
  let { chat: learned = null, isOver = false } = kept ?? {};

  const note = async (what: string, chat: number): Promise<void> => {
    log('info', what, { chat });
    emit({ kind: 'instance', payload: { what, chat } });
    await state.set(key, { chat: learned, isOver }).catch((error: unknown) => {
      log('error', 'the chat that is answered could not be saved', { error: errorText(error) });
    });
  };

  async function mayTalkUnlisted({ root, chat, isInvited, resolve }: Asked): Promise<boolean> {
    if (isOver || isInvited) return true;
    if ((await resolve()).principal_id !== null) {
      isOver = true;
      await note('a person of this channel is known now, so known people are answered in all chats', chat);
      return true;
    }
    if (learned === null) {
      learned = root;
      await note('the first chat that wrote was learned; only it is answered until a person of this channel is known', chat);
    }
    return learned === root;
  }

  function isOpen(chat: number): boolean {
    if (allowed.length > 0) return allowed.includes(chat) || allowed.includes(rootOf(chat));
    return isOver || learned === null || learned === rootOf(chat);
  }

  return {
    isOpen,
    checkTarget(target = '') {
      if (isOpen(Number(target.split(':')[0]))) return;
      throw new ServiceError('unprocessable', `The chat "${target}" is not one that this bot may write to (allowed_chat_ids).`);
    },
    async mayTalk(asked) {
      if (allowed.length > 0) return allowed.includes(asked.root) || allowed.includes(asked.chat);
      return mayTalkUnlisted(asked);
    },
  };
}
