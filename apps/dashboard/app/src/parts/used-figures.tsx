import { t } from '@svc/chat-ui/language/t.ts';
import { count, money } from './format.ts';

/** What was used and what it cost, side calls included. `unpriced`: turns and side calls that are in neither amount. */
export type Used = { turns: number; list: number; billed: number; unpriced: number };

/** The line of figures that sums up a period. */
export function UsedFigures({ turns, list, billed, unpriced }: Used) {
  return (
    <dl className="figures">
      <div>
        <dt>{t('Turns')}</dt>
        <dd>{count(turns)}</dd>
      </div>
      <div>
        <dt>{t('At list prices')}</dt>
        <dd>{money(list)}</dd>
      </div>
      <div>
        <dt>{t('Billed')}</dt>
        <dd>{money(billed)}</dd>
      </div>
      {unpriced > 0 && (
        <div>
          <dt>{t('Without a known price')}</dt>
          <dd>{count(unpriced)}</dd>
        </div>
      )}
    </dl>
  );
}
