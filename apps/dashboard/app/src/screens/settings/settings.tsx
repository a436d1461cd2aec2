import { t } from '@svc/chat-ui/language/t.ts';
import { Link, useParams } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';
import { Suspense } from 'react';
import { Empty, Page, Skeleton } from '../../parts/page.tsx';
import './settings.css';
import { settingsSections } from './sections.ts';

/** What can be set, as a list; each section is a page of its own. */
export function Settings() {
  return (
    <Page title={t('Settings')}>
      <ul className="rows-list settings-list">
        {settingsSections.map(({ id, name, about }) => (
          <li key={id}>
            <SectionLink id={id} name={name} />
            <p className="muted small">{about}</p>
          </li>
        ))}
      </ul>
    </Page>
  );
}

/** One section, with the way to the others beside it. */
export function SettingsSection() {
  const { section: wanted } = useParams({ from: '/settings/$section' });
  const shown = settingsSections.find(({ id }) => id === wanted);
  return (
    <Page title={shown?.name ?? t('Not found')}>
      <div className="settings">
        <nav aria-label={t('Settings')}>
          <Link to="/settings" className="tab" activeOptions={{ exact: true }}>
            <ChevronLeft aria-hidden size={16} /> {t('All settings')}
          </Link>
          <ul>
            {settingsSections.map(({ id, name }) => (
              <li key={id}>
                <SectionLink id={id} name={name} className="tab" />
              </li>
            ))}
          </ul>
        </nav>
        <div className="view">
          {shown === undefined ? (
            <Empty title={t('These settings do not exist.')} />
          ) : (
            <Suspense key={shown.id} fallback={<Skeleton />}>
              <shown.Screen />
            </Suspense>
          )}
        </div>
      </div>
    </Page>
  );
}

const SectionLink = ({ id, name, className }: { id: string; name: string; className?: string }) => (
  <Link
    to="/settings/$section"
    params={{ section: id }}
    search={{ text: '', kind: '' }}
    activeOptions={{ includeSearch: false }}
    activeProps={{ 'aria-current': 'page' }}
    {...(className && { className })}
  >
    {name}
  </Link>
);
