import { t } from '@svc/chat-ui/language/t.ts';
import { useState } from 'react';
import { ChatView } from '../../parts/conversation/chat-view.tsx';
import { useSession } from '../../parts/conversation/use-session.ts';
import { mainConversation } from '../../parts/conversation/web-chat.ts';
import { Fault, Page } from '../../parts/page.tsx';
import { useLogin } from '../../shell/login.tsx';

/** The conversation with the assistant that always exists. */
export function ChatScreen() {
  const { user } = useLogin();
  const [key] = useState(() => mainConversation(user));
  const { open, fault, retry } = useSession(key);
  return (
    <Page title={t('Chat')}>
      <div className="conversation">
        {fault !== null && <Fault error={fault} onRetry={retry} />}
        {open !== null && open.chat !== null && (
          <ChatView
            key={key}
            conversationKey={key}
            watch={open.watch}
            chat={open.chat}
            empty={
              <>
                <h2>{t('What can I do for you?')}</h2>
                <p>{t('Write a message. It is kept in this browser until the assistant has it.')}</p>
              </>
            }
          />
        )}
      </div>
    </Page>
  );
}
