import { plural, t } from '@svc/chat-ui/language/t.ts';
import type { SpendReport } from '@svc/contract/cost.ts';
import type { UsageAux, UsageByPerson, UsageRollup } from '@svc/contract/usage.ts';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { withQuery } from '../../parts/api.ts';
import { count, money, relativeTime } from '../../parts/format.ts';
import { Empty, Loaded, Page, Section } from '../../parts/page.tsx';
import { useApi } from '../../parts/query.ts';
import { byDay, type Day, startOfDays } from './by-day.ts';
import { DaysChart } from './days-chart.tsx';
import { PeopleCosts } from './people-costs.tsx';
import { SideCalls } from './side-calls.tsx';
import { Table } from '../../parts/table.tsx';
import { type Used, UsedFigures } from '../../parts/used-figures.tsx';

const spans = { '7': t('The last 7 days'), '31': t('The last 31 days'), '92': t('The last 92 days') } as const;

/** What was used, by whom, and what it cost: at list prices, and what is billed. */
export function Costs() {
  const { days } = useSearch({ from: '/costs' });
  const navigate = useNavigate({ from: '/costs' });
  const span = days in spans ? Number(days) : 31;
  // From the start of a day, so that repeated requests have the same address.
  const since = startOfDays(span);
  const usage = useApi<{ usage: UsageRollup[]; aux: UsageAux[]; truncated: boolean }>(
    withQuery('/collector/api/usage', { since }),
  );
  const people = useApi<UsageByPerson>(withQuery('/collector/api/usage/people', { since }));
  const spend = useApi<SpendReport>('/core/v2/spend');
  return (
    <Page
      title={t('Costs')}
      actions={
        <select
          aria-label={t('Time')}
          className="choice"
          value={String(span)}
          onChange={({ target }) => void navigate({ search: { days: target.value }, replace: true })}
        >
          {Object.entries(spans).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      }
    >
      <Section title={t('In this period')}>
        <Loaded query={people} rows={1}>
          {(data) => <UsedFigures {...sumOf(data)} />}
        </Loaded>
      </Section>
      <Section title={t('Limits')}>
        <Loaded query={spend} rows={1}>
          {(report) => <Limits {...report} />}
        </Loaded>
      </Section>
      <Section title={t('By day')}>
        <Loaded query={usage}>
          {(data) => {
            const found = byDay(data, since, span);
            return (
              <>
                <DaysChart days={found} />
                {data.truncated && <p className="muted small">{t('There is more than is shown here: choose a shorter time.')}</p>}
                <Days days={found} />
              </>
            );
          }}
        </Loaded>
      </Section>
      <Loaded query={people}>
        {(data) => (
          <>
            <Section title={t('By person')}>
              <PeopleCosts {...data} />
            </Section>
            <Section title={t('Outside turns')}>
              <SideCalls side={data.side} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** Of all people and side calls: unlike the days, these are not limited to a number of hours. */
function sumOf({ people, side }: Pick<UsageByPerson, 'people' | 'side'>): Used {
  const sum: Used = { turns: 0, list: 0, billed: 0, unpriced: 0 };
  for (const { turns, unpriced_turns: unpriced } of people) {
    sum.turns += turns;
    sum.unpriced += unpriced;
  }
  for (const { unpriced_calls: unpriced } of side) sum.unpriced += unpriced;
  for (const { cost_usd: list, billed_cost_usd: billed } of [...people, ...side]) {
    sum.list += list;
    sum.billed += billed;
  }
  return sum;
}

function Limits({ period, until, total }: SpendReport) {
  const { cost_usd: cost, soft_usd: soft, hard_usd: hard } = total;
  return (
    <dl className="figures">
      <div>
        <dt>{period === 'day' ? t('Today') : t('This month')}</dt>
        <dd>{money(cost)}</dd>
      </div>
      <div>
        <dt>{t('Warning at')}</dt>
        <dd>{soft === null ? t('none') : money(soft)}</dd>
      </div>
      <div>
        <dt>{t('Turns are refused at')}</dt>
        <dd>{hard === null ? t('none') : money(hard)}</dd>
      </div>
      <div>
        <dt>{t('Resets')}</dt>
        <dd>{relativeTime(until)}</dd>
      </div>
    </dl>
  );
}

const dayWords = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short' });

function Days({ days }: { days: readonly Day[] }) {
  const used = days.filter(({ turns, list, unpricedCalls }) => turns > 0 || list > 0 || unpricedCalls > 0).toReversed();
  if (used.length === 0) return <Empty title={t('Nothing was used in this period')} />;
  return (
    <Table
      caption={t('Use by day')}
      rows={used}
      keyOf={({ at }) => String(at)}
      columns={[
        { name: t('Day'), isMain: true, cell: ({ at }) => dayWords.format(at) },
        { name: t('Turns'), isNumber: true, cell: ({ turns }) => count(turns) },
        { name: t('Tokens in'), isNumber: true, cell: ({ tokensIn }) => count(tokensIn) },
        { name: t('Tokens out'), isNumber: true, cell: ({ tokensOut }) => count(tokensOut) },
        { name: t('List price'), isNumber: true, cell: ({ list }) => money(list) },
        { name: t('Billed'), isNumber: true, cell: ({ billed }) => money(billed) },
        {
          name: t('Incomplete'),
          cell: ({ estimated, unpriced, unpricedCalls }) =>
            [
              estimated > 0 ? plural(estimated, '{n} turn estimated', '{n} turns estimated') : null,
              unpriced > 0 ? plural(unpriced, '{n} turn unpriced', '{n} turns unpriced') : null,
              unpricedCalls > 0 ? plural(unpricedCalls, '{n} side call unpriced', '{n} side calls unpriced') : null,
            ]
              .filter((words) => words !== null)
              .join(', '),
        },
      ]}
    />
  );
}
