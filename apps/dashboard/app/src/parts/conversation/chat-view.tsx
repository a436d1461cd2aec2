import { t } from '@svc/chat-ui/language/t.ts';
import { Announcer } from '@svc/chat-ui/view/announcer.tsx';
import { Composer } from '@svc/chat-ui/view/composer.tsx';
import { Transcript } from '@svc/chat-ui/view/transcript.tsx';
import { useDraft } from '@svc/chat-ui/view/use-draft.ts';
import { useRunning } from '@svc/chat-ui/view/use-turn.ts';
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useActions } from './use-actions.ts';
import type { SessionWatch } from './watch-session.ts';
import { useUndelivered } from './use-undelivered.ts';
import type { WebChat } from './web-chat.ts';

type Props = {
  conversationKey: string;
  watch: SessionWatch;
  chat: WebChat;
  empty: ReactNode;
  firstText?: string;
  sought?: string;
};

/** The browser's database is full or blocked. */
const cannotStore = t('This browser cannot store the message. Free some space, or leave private browsing.');

/** The person's own conversation: its messages and the message box. */
export function ChatView({ conversationKey, watch, chat, empty, firstText = '', sought }: Props) {
  const { conversation, loadOlder } = watch;
  const input = useRef<HTMLTextAreaElement>(null);
  const [text, setText, putBack] = useDraft(chat.drafts, chat.draftName, { proposed: firstText });
  const [files, setFiles] = useState<readonly File[]>([]);
  const [fault, setFault] = useState<string | null>(null);
  const isRunning = useRunning(conversation);
  const { stop, answer } = useActions(conversationKey);
  const deliver = useUndelivered(conversation, conversationKey);
  const hasKeyboard = useMemo(() => matchMedia('(pointer: fine)').matches, []);

  /** `first`: must finish before the message is sent. Meanwhile the box can be used for the next one. */
  const send = async (first?: () => Promise<void>) => {
    const said = text.trim();
    setText('');
    setFiles([]);
    setFault(null);
    input.current?.focus();
    try {
      await first?.();
      await chat.send(said, files);
    } catch {
      // The text returns to the box.
      putBack(said);
      setFiles((since) => [...files, ...since]);
      setFault(cannotStore);
    }
  };
  const edit = useCallback(
    async (key: string) => {
      const taken = await chat.takeBack(key);
      if (taken !== null) {
        putBack(taken.text);
        setFiles((since) => [...taken.files, ...since]);
      }
      input.current?.focus();
    },
    [chat, putBack],
  );
  const actions = useMemo(
    () => ({
      answer,
      deliver,
      retry: (key: string) => void chat.retry(key),
      edit: (key: string) => void edit(key),
      repeat: (key: string) => void chat.repeat(key).catch(() => setFault(cannotStore)),
    }),
    [answer, deliver, chat, edit],
  );
  useEffect(() => {
    if (hasKeyboard) input.current?.focus();
  }, [hasKeyboard]);

  return (
    <>
      <Transcript
        conversation={conversation}
        assistant={t('Assistant')}
        actions={actions}
        loadOlder={loadOlder}
        empty={empty}
        sought={sought}
      />
      <Announcer conversation={conversation} />
      {fault !== null && (
        <p className="fault note" role="alert">
          {fault}
        </p>
      )}
      <Composer
        text={text}
        files={files}
        isRunning={isRunning}
        placeholder={t('Message the assistant')}
        enterSends={hasKeyboard}
        input={input}
        onText={setText}
        onFiles={setFiles}
        onSend={() => void send()}
        // The stop is sent once, from here: a message that is sent again must not stop its own turn.
        onInterrupt={() => void send(stop)}
        onStop={() => void stop()}
      />
    </>
  );
}
