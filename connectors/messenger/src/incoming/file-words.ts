import type { CoreApi } from '@svc/connector-kit/connector.ts';
import type { Envelope } from '@svc/contract/envelope.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import type { Message } from 'grammy/types';
import type { ChatKeys } from './chat-keys.ts';
import { fileOf } from './message-file.ts';
import type { TakeFile } from './take-file.ts';

/** Words of so many messages are kept. */
const maxKept = 100;

export type FileWords = {
  /** Takes the file of a message, and keeps the words that stand for it. */
  take: TakeFile;
  /** What stands for the file of a message that was edited: an edit brings the caption alone. */
  ofEdited(message: Message, envelope: Envelope, signal: AbortSignal): Promise<string>;
};

type Deps = { core: Pick<CoreApi, 'resolve'>; keys: Pick<ChatKeys, 'ofMessage'>; takeFile: TakeFile };

/** What stands for the files of messages, such as what is said in them. */
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
      // Of the others little is lost, and they would be fetched and stored once more.
      if (known !== undefined || file?.kind !== 'spoken') return known ?? '';
      // Nothing is fetched for a stranger.
      if ((await core.resolve(envelope)).denied) return '';
      const { conversation_key: conversationKey, sender } = envelope;
      return (await take(file, { conversationKey, sender: sender.raw_id, message: name, signal })).words ?? '';
    },
  };
}
