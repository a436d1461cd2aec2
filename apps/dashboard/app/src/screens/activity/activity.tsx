import { t } from '@svc/chat-ui/language/t.ts';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Page } from '../../parts/page.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { Audit } from './audit.tsx';
import { Events } from './events.tsx';
import { Machine } from './machine.tsx';

const tabs = [
  { name: 'events', title: t('Events') },
  { name: 'machine', title: t('Machine') },
  { name: 'audit', title: t('Audit') },
] as const;

/** What happened: events as they come, the machine, and who changed what. */
export function Activity() {
  const { tab: named } = useSearch({ from: '/activity' });
  const navigate = useNavigate({ from: '/activity' });
  const tab = tabs.find(({ name }) => name === named)?.name ?? 'events';
  return (
    <Page title={t('Activity')}>
      <Tabs
        label={t('Views of what happened')}
        tabs={tabs}
        chosen={tab}
        onChoose={(next) => void navigate({ search: { tab: next }, replace: true })}
      />
      {tab === 'events' && <Events />}
      {tab === 'machine' && <Machine />}
      {tab === 'audit' && <Audit />}
    </Page>
  );
}
