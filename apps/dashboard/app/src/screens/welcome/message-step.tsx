import { t } from '@svc/chat-ui/language/t.ts';
import { Link } from '@tanstack/react-router';
import { ChatView } from '../../parts/conversation/chat-view.tsx';
import { useSession } from '../../parts/conversation/use-session.ts';
import { mainConversation } from '../../parts/conversation/web-chat.ts';
import { Fault } from '../../parts/page.tsx';
import { useLogin } from '../../shell/login.tsx';

const firstText = t('Hello! What can you do for me here?');

/** The chat, with a first message to be sent or changed. */
export function MessageStep() {
  const { user } = useLogin();
  const key = mainConversation(user);
  const { open, fault, retry } = useSession(key);
  return (
    <>
      <p className="welcome-words">
        {t('Send this, or what you like.')}
        <Link to="/welcome/$step" params={{ step: 'channel' }} className="plain-button">
          {t('Go on to a channel')}
        </Link>
      </p>
      <div className="conversation">
        {fault !== null && <Fault error={fault} onRetry={retry} />}
        {open !== null && open.chat !== null && (
          <ChatView
            conversationKey={key}
            watch={open.watch}
            chat={open.chat}
            firstText={firstText}
            empty={<h2>{t('Say something to your assistant')}</h2>}
          />
        )}
      </div>
    </>
  );
}
