import type { CoreApi } from '@svc/connector-kit/connector.ts';
import type { Envelope } from '@svc/contract/envelope.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import type { Message } from 'grammy/types';
import type { ChatKeys } from './chat-keys.ts';
import { fileOf } from './message-file.ts';
import type { TakeFile } from './take-file.ts';

/** Number of messages whose texts are kept. */
const maxKept = 100;

export type FileWords = {
  /** Handles the file of a message, and keeps the text that replaces it. */
  take: TakeFile;
  /** The text for the file of an edited message, because an edit contains only the caption. */
  ofEdited(message: Message, envelope: Envelope, signal: AbortSignal): Promise<string>;
};

type Deps = { core: Pick<CoreApi, 'resolve'>; keys: Pick<ChatKeys, 'ofMessage'>; takeFile: TakeFile };

/** Texts that replace files of messages, such as transcripts. */
export function createFileWords({ core, keys, takeFile }: Deps): FileWords {
  const kept = new Map<string, string>();

  const take: TakeFile = async (file, origin) => {
    const taken = await takeFile(file, origin);
    kept.delete(origin.message);
    kept.set(origin.message, taken.words ?? '');
    forgetOldest(kept, maxKept);
    return taken;
  };

  return {
    take,
    async ofEdited(message, envelope, signal) {
      const name = keys.ofMessage(message);
      const known = kept.get(name);
      const file = fileOf(message);
      // Other files lose little, and would be fetched and stored again.
      if (known !== undefined || file?.kind !== 'spoken') return known ?? '';
      // Nothing is fetched for a stranger.
      if ((await core.resolve(envelope)).denied) return '';
      const { conversation_key: conversationKey, sender } = envelope;
      return (await take(file, { conversationKey, sender: sender.raw_id, message: name, signal })).words ?? '';
    },
  };
}
