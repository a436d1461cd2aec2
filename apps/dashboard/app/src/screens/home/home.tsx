import { t } from '@svc/chat-ui/language/t.ts';
import type { Brief } from '@svc/contract/insights.ts';
import { Link } from '@tanstack/react-router';
import { MessageCircle } from 'lucide-react';
import { relativeTime } from '../../parts/format.ts';
import { Empty, Loaded, Page, Section, Skeleton } from '../../parts/page.tsx';
import { useAct, useApi } from '../../parts/query.ts';
import { Status } from '../../parts/status.tsx';
import { titleOf } from '../../parts/title-of.ts';
import { type People, usePeople } from '../../parts/use-people.ts';
import { UsedFigures } from '../../parts/used-figures.tsx';
import { stateWords } from '../sessions/state-words.ts';
import { Refused } from './refused.tsx';
import type { Need } from './need.ts';
import { useNeeds } from './use-needs.ts';

/** What needs the operator, who is working, and what the day has cost. An unreachable process is a row, never a blank page. */
export function Home() {
  const { needs, isKnown } = useNeeds();
  const people = usePeople();
  const brief = useApi<Brief>('/collector/api/brief', 60_000);
  return (
    <Page
      title={t('Home')}
      actions={
        <Link to="/chat" className="primary">
          <MessageCircle aria-hidden size={16} /> {t('Say something')}
        </Link>
      }
    >
      <Section title={t('Needs you')}>
        {needs.length > 0 && (
          <ul className="rows-list">
            {needs.map((need) => (
              <NeedRow key={need.key} need={need} />
            ))}
          </ul>
        )}
        {needs.length === 0 && (isKnown ? <Empty title={t('Nothing needs you')} /> : <Skeleton />)}
      </Section>
      <Refused />
      <Loaded query={brief}>
        {({ active, totals }) => (
          <>
            <Section title={t('Active in the last 15 minutes')}>
              {active.length === 0 ? (
                <p className="muted">{t('Nobody.')}</p>
              ) : (
                <ul className="rows-list">
                  {active.toSorted(workingFirst).map((session) => (
                    <li key={session.conversation_key}>
                      <Link to="/sessions/$key" params={{ key: session.conversation_key }} className="row-link">
                        {titleOf(session)}
                      </Link>
                      <p className="muted small">{workWords(session, people)}</p>
                    </li>
                  ))}
                </ul>
              )}
            </Section>
            <Section title={t('The last day')}>
              <Totals totals={totals} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** Sessions that are working come before those that have ended. */
const workingFirst = (one: { state: string }, other: { state: string }): number =>
  Number(one.state === 'idle') - Number(other.state === 'idle');

function NeedRow({ need: { status, title, words, remedy } }: { need: Need }) {
  const act = useAct(remedy?.kind === 'call' ? remedy : {});
  return (
    <li>
      <Status kind={status} words={title} />
      <p>{words}</p>
      {remedy !== null && (
        <p>
          {remedy.kind === 'link' ? (
            <Link to={remedy.to} className="plain-button">
              {remedy.words}
            </Link>
          ) : (
            <button type="button" className="plain-button" disabled={act.isPending} onClick={() => act.mutate(remedy)}>
              {remedy.words}
            </button>
          )}
        </p>
      )}
    </li>
  );
}

/** Where a session is working, for whom, and since when. */
const workWords = ({ surface, state, last_event_at: at, ...who }: Brief['active'][number], people: People): string =>
  [surface, people.nameIn(who), stateWords[state], relativeTime(at)].filter(Boolean).join(' · ');

function Totals({ totals }: Pick<Brief, 'totals'>) {
  const sum = totals.reduce(
    (all, { turns, cost_usd: list, billed_cost_usd: billed, unpriced }) => ({
      turns: all.turns + turns,
      list: all.list + list,
      billed: all.billed + billed,
      unpriced: all.unpriced + unpriced,
    }),
    { turns: 0, list: 0, billed: 0, unpriced: 0 },
  );
  return <UsedFigures {...sum} />;
}
