import { useDraft } from '@svc/chat-ui/view/use-draft.ts';
import { useCallback, useState } from 'react';
import type { ChatSession } from './chat-session.ts';

type Options = {
  /** The text that the app was opened with. */
  shared: string;
  /** Moves the focus to the input field. */
  focus(): void;
  onFault(fault: string | null): void;
};

/** The message that is being written: its text and files, and what happens when it is sent or edited again. */
export function useMessage(session: ChatSession, { shared, focus, onFault }: Options) {
  const [text, setText, putBack] = useDraft(session.drafts, session.draftName, { shared });
  const [files, setFiles] = useState<readonly File[]>([]);

  const send = (interrupt = false) => {
    const said = text.trim();
    setText('');
    setFiles([]);
    onFault(null);
    session.send(said, files, { interrupt }).catch(() => {
      // The browser's database is full or blocked: the text and the files return to the input.
      putBack(said);
      setFiles((since) => [...files, ...since]);
      onFault('This browser cannot store the message. Free some space, or leave private browsing.');
    });
    focus();
  };

  const edit = useCallback(
    async (key: string) => {
      const taken = await session.takeBack(key);
      if (taken !== null) {
        putBack(taken.text);
        setFiles((since) => [...taken.files, ...since]);
      }
      focus();
    },
    [session, putBack, focus],
  );

  return { text, setText, files, setFiles, putBack, send, edit };
}
