import { t } from '@svc/chat-ui/language/t.ts';
import type { Session } from '@svc/contract/session.ts';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { ArrowLeft } from 'lucide-react';
import { ChatView } from '../../parts/conversation/chat-view.tsx';
import { SteerView } from '../../parts/conversation/steer-view.tsx';
import { useSession } from '../../parts/conversation/use-session.ts';
import { sessionPath } from '../../parts/conversation/watch-session.ts';
import { Empty, Fault, Page, Skeleton } from '../../parts/page.tsx';
import { useApi } from '../../parts/query.ts';
import { Tabs } from '../../parts/tabs.tsx';
import { Changes } from './changes.tsx';
import { Facts } from './facts.tsx';
import { TerminalKeys } from './terminal-keys.tsx';

const tabs = [
  { name: 'transcript', title: t('Transcript') },
  { name: 'changes', title: t('Changes') },
  { name: 'terminal', title: t('Terminal') },
  { name: 'facts', title: t('Facts') },
] as const;
type Tab = (typeof tabs)[number]['name'];

/** One session: its live transcript, the changes in its folder, its terminal, its facts and its actions. */
export function SessionScreen() {
  const { key } = useParams({ from: '/sessions/$key' });
  return <OneSession key={key} conversationKey={key} />;
}

function OneSession({ conversationKey: key }: { conversationKey: string }) {
  const { tab: named, find } = useSearch({ from: '/sessions/$key' });
  const navigate = useNavigate({ from: '/sessions/$key' });
  const tab = tabs.find(({ name }) => name === named)?.name ?? 'transcript';
  const query = useApi<Session>(sessionPath(key));
  const choose = (next: Tab) => void navigate({ search: { tab: next === 'transcript' ? '' : next, find }, replace: true });
  return (
    <Page
      title={query.data?.title ?? t('Session')}
      actions={
        <Link to="/sessions" className="plain-button">
          <ArrowLeft aria-hidden size={16} /> {t('All sessions')}
        </Link>
      }
    >
      <Tabs label={t('Views of this session')} tabs={tabs} chosen={tab} onChoose={choose} />
      {tab === 'transcript' && <Conversation conversationKey={key} session={query.data} sought={find} />}
      {tab === 'changes' && <Changes sessionId={key} />}
      {tab === 'terminal' && <TerminalKeys sessionId={key} />}
      {tab === 'facts' && <Facts conversationKey={key} query={query} />}
    </Page>
  );
}

type ConversationProps = { conversationKey: string; session: Session | undefined; sought: string };

function Conversation({ conversationKey: key, session, sought }: ConversationProps) {
  const { open, fault, isMissing, retry } = useSession(key);
  return (
    <div className="conversation">
      {fault !== null && <Fault error={fault} onRetry={retry} />}
      {isMissing && (
        <Empty title={t('The core has no such session')}>
          <p>{t('It was forgotten, or it belongs to a program in a terminal that the core has never talked to.')}</p>
        </Empty>
      )}
      {open === null && fault === null && !isMissing && <Skeleton />}
      {open !== null && open.chat !== null && (
        <ChatView
          conversationKey={key}
          watch={open.watch}
          chat={open.chat}
          empty={<p>{t('Nothing has been said here yet.')}</p>}
          sought={sought}
        />
      )}
      {open !== null && open.chat === null && session !== undefined && (
        <SteerView session={session} watch={open.watch} sought={sought} />
      )}
    </div>
  );
}
