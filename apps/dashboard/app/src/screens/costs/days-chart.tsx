import { t } from '@svc/chat-ui/language/t.ts';
import { useMemo } from 'react';
import { Chart } from '../../parts/chart/chart.tsx';
import type { ChartSpec } from '../../parts/chart/chart-spec.ts';
import { money } from '../../parts/format.ts';
import type { Day } from './by-day.ts';

/** What each day cost, at list prices and billed. Null when nothing did. */
export function DaysChart({ days }: { days: readonly Day[] }) {
  const spec = useMemo<ChartSpec>(
    () => ({
      kind: 'days',
      at: days.map(({ at }) => at),
      words: money,
      series: [
        { name: t('List price'), values: days.map(({ list }) => list) },
        { name: t('Billed'), values: days.map(({ billed }) => billed) },
      ],
    }),
    [days],
  );
  if (days.every(({ list, billed }) => list + billed === 0)) return null;
  return <Chart label={t('List price and what is billed, by day')} spec={spec} />;
}
