import type { SpendLimits, SpendReport } from '@svc/contract/cost.ts';
import { fullTime, money } from '../../../parts/format.ts';
import { Loaded, Section } from '../../../parts/page.tsx';
import { useApi } from '../../../parts/query.ts';
import { Status } from '../../../parts/status.tsx';
import { type Column, Table } from '../../../parts/table.tsx';
import { Budgets } from './budgets.tsx';
import { Prices } from './prices.tsx';
import { spendPath } from './spend-path.ts';

type Limit = { name: string; setting: string; amount: number | null; spent: number | null; isHard: boolean };

const columns: readonly Column<Limit>[] = [
  { name: 'Limit', isMain: true, cell: ({ name }) => name },
  { name: 'Amount', isNumber: true, cell: ({ amount }) => (amount === null ? 'none' : money(amount)) },
  { name: 'Stands', cell: standing },
  { name: 'Setting', cell: ({ setting }) => <code>{setting}</code> },
];

/** What may be spent, what was, and what models cost. */
export function Limits() {
  const query = useApi<SpendReport>(spendPath, 30_000);
  return (
    <>
      <Section title="All turns">
        <Loaded query={query}>
          {({ period, since, until, total, per_principal: each }) => (
            <>
              <p>
                {money(total.cost_usd)} of list price this {period}, since {fullTime(since)}. A new {period} begins{' '}
                {fullTime(until)}.
              </p>
              <Table
                caption="Limits of all turns"
                columns={columns}
                rows={[
                  ...limitsOf('All together', 'SVC_SPEND', total, total.cost_usd),
                  ...limitsOf('Each person', 'SVC_SPEND_PRINCIPAL', each, null),
                ]}
                keyOf={({ setting }) => setting}
              />
              <p className="muted small">
                At a warning a line stands at home; at the other limit turns are refused. They are settings of the installation:
                write them into <code>.env</code> where the service is installed, with <code>SVC_SPEND_PERIOD=day</code> for
                limits by the day, and restart the service.
              </p>
            </>
          )}
        </Loaded>
      </Section>
      <Budgets query={query} />
      <Prices />
    </>
  );
}

const limitsOf = (
  who: string,
  setting: string,
  { soft_usd: soft, hard_usd: hard }: SpendLimits,
  spent: number | null,
): Limit[] => [
  { name: `${who}: warning`, setting: `${setting}_SOFT_USD`, amount: soft, spent, isHard: false },
  { name: `${who}: refused`, setting: `${setting}_HARD_USD`, amount: hard, spent, isHard: true },
];

function standing({ amount, spent, isHard }: Limit) {
  if (amount === null || spent === null) return '–';
  if (spent < amount) return <Status kind="ok" words="below" />;
  return isHard ? <Status kind="bad" words="reached" /> : <Status kind="warn" words="reached" />;
}
