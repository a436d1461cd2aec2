import { t } from '@svc/chat-ui/language/t.ts';
import type { UsageByPerson, UsagePerson } from '@svc/contract/usage.ts';
import { useMemo } from 'react';
import { Chart } from '../../parts/chart/chart.tsx';
import type { ChartSpec } from '../../parts/chart/chart-spec.ts';
import { count, money } from '../../parts/format.ts';
import { Table } from '../../parts/table.tsx';

const maxBars = 12;
const barHeight = 32;
const axisHeight = 48;

const nameOf = ({ name, principal, handles }: UsagePerson): string =>
  name ?? principal ?? handles.map(({ surface, identity }) => `${identity} (${surface})`).join(', ');

/** How much each person used, most first. */
export function PeopleCosts({ people, links_known: isFolded, truncated }: UsageByPerson) {
  const spec = useMemo(() => chartOf(people), [people]);
  if (people.length === 0) return <p className="muted">{t('Nobody used anything in this period.')}</p>;
  return (
    <>
      {!isFolded && (
        <p className="muted small">{t('The core did not say who is linked to whom: a person may be listed several times.')}</p>
      )}
      {truncated && <p className="muted small">{t('There are more people than are shown here.')}</p>}
      {spec !== null && (
        <Chart
          label={t('List price and what is billed, by person')}
          spec={spec}
          height={spec.names.length * barHeight + axisHeight}
        />
      )}
      <Table
        caption={t('Use by person')}
        rows={people}
        keyOf={({ principal, handles }) => principal ?? handles.map(({ surface, identity }) => `${surface} ${identity}`).join()}
        columns={[
          { name: t('Person'), isMain: true, cell: nameOf },
          { name: t('Channels'), cell: ({ handles }) => [...new Set(handles.map(({ surface }) => surface))].join(', ') },
          { name: t('Turns'), isNumber: true, cell: ({ turns }) => count(turns) },
          { name: t('List price'), isNumber: true, cell: ({ cost_usd: list }) => money(list) },
          { name: t('Billed'), isNumber: true, cell: ({ billed_cost_usd: billed }) => money(billed) },
          { name: t('Unpriced turns'), isNumber: true, cell: ({ unpriced_turns: unpriced }) => count(unpriced) },
        ]}
      />
    </>
  );
}

/** The people with the highest costs; null when there are none. */
function chartOf(people: readonly UsagePerson[]): (ChartSpec & { kind: 'names' }) | null {
  const paid = people
    .filter(({ cost_usd: list, billed_cost_usd: billed }) => list + billed > 0)
    .toSorted((one, other) => other.cost_usd - one.cost_usd)
    .slice(0, maxBars);
  if (paid.length === 0) return null;
  return {
    kind: 'names',
    names: paid.map(nameOf),
    words: money,
    series: [
      { name: t('List price'), values: paid.map(({ cost_usd: list }) => list) },
      { name: t('Billed'), values: paid.map(({ billed_cost_usd: billed }) => billed) },
    ],
  };
}
