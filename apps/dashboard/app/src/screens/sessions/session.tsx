import type { Session } from '@svc/contract/session.ts';
import { Link, useParams } from '@tanstack/react-router';
import { ArrowLeft } from 'lucide-react';
import { ChatView } from '../../parts/conversation/chat-view.tsx';
import { SteerView } from '../../parts/conversation/steer-view.tsx';
import { useSession } from '../../parts/conversation/use-session.ts';
import { sessionPath } from '../../parts/conversation/watch-session.ts';
import { Empty, Fault, Page, Skeleton } from '../../parts/page.tsx';
import { useApi } from '../../parts/query.ts';

/** One session: its transcript as it goes on, and what can be said into it. */
export function SessionScreen() {
  const { key } = useParams({ from: '/sessions/$key' });
  return <OneSession key={key} conversationKey={key} />;
}

function OneSession({ conversationKey: key }: { conversationKey: string }) {
  const { open, fault, isMissing, retry } = useSession(key);
  const query = useApi<Session>(sessionPath(key));
  const session = query.data;
  return (
    <Page
      title={session?.title ?? 'Session'}
      actions={
        <Link to="/sessions" className="plain-button">
          <ArrowLeft aria-hidden size={16} /> All sessions
        </Link>
      }
    >
      <div className="conversation">
        {fault !== null && <Fault error={fault} onRetry={retry} />}
        {isMissing && (
          <Empty title="The core has no such session">
            <p>It was forgotten, or it is of a program in a terminal that the core has never spoken with.</p>
          </Empty>
        )}
        {open === null && fault === null && !isMissing && <Skeleton />}
        {open !== null && open.chat !== null && (
          <ChatView conversationKey={key} watch={open.watch} chat={open.chat} empty={<p>Nothing was said here yet.</p>} />
        )}
        {open !== null && open.chat === null && session !== undefined && <SteerView session={session} watch={open.watch} />}
      </div>
    </Page>
  );
}
