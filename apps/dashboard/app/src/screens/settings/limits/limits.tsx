import { Rich } from '@svc/chat-ui/language/rich.tsx';
import { t } from '@svc/chat-ui/language/t.ts';
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
  { name: t('Limit'), isMain: true, cell: ({ name }) => name },
  { name: t('Amount'), isNumber: true, cell: ({ amount }) => (amount === null ? t('none') : money(amount)) },
  { name: t('Used'), cell: standing },
  { name: t('Setting'), cell: ({ setting }) => <code>{setting}</code> },
];

/** Spending limits, what was spent, and what models cost. */
export function Limits() {
  const query = useApi<SpendReport>(spendPath, 30_000);
  return (
    <>
      <Section title={t('All turns')}>
        <Loaded query={query}>
          {({ period, since, until, total, per_principal: each }) => (
            <>
              <p>{spentWords(period, { amount: money(total.cost_usd), since: fullTime(since), until: fullTime(until) })}</p>
              <Table
                caption={t('Limits of all turns')}
                columns={columns}
                rows={[
                  ...limitsOf([t('All together: warning'), t('All together: refused')], 'SVC_SPEND', total, total.cost_usd),
                  ...limitsOf([t('Each person: warning'), t('Each person: refused')], 'SVC_SPEND_PRINCIPAL', each, null),
                ]}
                keyOf={({ setting }) => setting}
              />
              <p className="muted small">
                <Rich
                  text="Home shows a warning at the first limit; turns are refused at the second. Both are settings of the installation: write them into {file} where the service is installed (with {setting} for daily limits), and restart the service."
                  file={<code>{'.env'}</code>}
                  setting={<code>{'SVC_SPEND_PERIOD=day'}</code>}
                />
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

const spentWords = (period: SpendReport['period'], values: Record<'amount' | 'since' | 'until', string>): string =>
  period === 'day'
    ? t('{amount} of list price this day, since {since}. A new day begins {until}.', values)
    : t('{amount} of list price this month, since {since}. A new month begins {until}.', values);

const limitsOf = (
  [warning, refused]: readonly [string, string],
  setting: string,
  { soft_usd: soft, hard_usd: hard }: SpendLimits,
  spent: number | null,
): Limit[] => [
  { name: warning, setting: `${setting}_SOFT_USD`, amount: soft, spent, isHard: false },
  { name: refused, setting: `${setting}_HARD_USD`, amount: hard, spent, isHard: true },
];

function standing({ amount, spent, isHard }: Limit) {
  if (amount === null || spent === null) return '–';
  if (spent < amount) return <Status kind="ok" words={t('below')} />;
  return isHard ? <Status kind="bad" words={t('reached')} /> : <Status kind="warn" words={t('reached')} />;
}
