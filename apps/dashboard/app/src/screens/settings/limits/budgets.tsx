import { t } from '@svc/chat-ui/language/t.ts';
import { budgetSchema, type SenderBudget, type SpendReport } from '@svc/contract/cost.ts';
import type { UseQueryResult } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Dialog } from '../../../parts/dialog.tsx';
import { money } from '../../../parts/format.ts';
import { Loaded, Section } from '../../../parts/page.tsx';
import { useAct } from '../../../parts/query.ts';
import { ActForm } from '../../../parts/schema-form/act-form.tsx';
import { Status } from '../../../parts/status.tsx';
import { spendPath } from './spend-path.ts';

const path = `${spendPath}/budget`;
const { surface, value, month_usd: month } = budgetSchema.properties;
/** In the form the amount is required; a button removes the budget. */
const schema = {
  type: 'object',
  required: budgetSchema.required,
  properties: { surface, value, month_usd: { ...month, type: 'number' } },
} as const;
type Known = Pick<SenderBudget, 'surface' | 'value' | 'month_usd'>;

/** Monthly budgets of single senders. */
export function Budgets({ query }: { query: UseQueryResult<SpendReport> }) {
  const [open, setOpen] = useState<Partial<Known> | null>(null);
  const remove = useAct({ changes: [spendPath], done: t('The budget is removed.') });
  return (
    <Section
      title={t('Budgets per sender')}
      actions={
        <button type="button" className="primary" onClick={() => setOpen({})}>
          <Plus aria-hidden size={16} /> {t('Set budget')}
        </button>
      }
    >
      <Loaded query={query} rows={1}>
        {({ budgets }) =>
          budgets.length === 0 ? (
            <p className="muted">
              {t('None. A budget is for one name on one channel, such as a key of the chat completions API.')}
            </p>
          ) : (
            <ul className="rows-list">
              {budgets.map((budget) => (
                <li key={`${budget.surface} ${budget.value}`}>
                  <div className="line-between">
                    <b>
                      {budget.value} <span className="muted">({budget.surface})</span>
                    </b>
                    {budget.spent_usd >= budget.month_usd && <Status kind="bad" words={t('used up')} />}
                  </div>
                  <p className="small">
                    {t('{spent} of {most} this month', { spent: money(budget.spent_usd), most: money(budget.month_usd) })}
                  </p>
                  <p className="row-buttons">
                    <button type="button" className="plain-button" onClick={() => setOpen(budget)}>
                      {t('Change budget of {name}', { name: budget.value })}
                    </button>
                    <button
                      type="button"
                      className="danger"
                      disabled={remove.isPending}
                      onClick={() =>
                        remove.mutate({
                          method: 'PUT',
                          path,
                          body: { surface: budget.surface, value: budget.value, month_usd: null },
                        })
                      }
                    >
                      {t('Remove budget of {name}', { name: budget.value })}
                    </button>
                  </p>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {open !== null && (
        <Dialog title={t('Set a budget')} onClose={() => setOpen(null)}>
          <ActForm
            schema={schema}
            values={open}
            button={t('Set budget')}
            changes={[spendPath]}
            toCall={(body) => ({ method: 'PUT', path, body })}
            done={() => t('The budget is set.')}
            onClose={() => setOpen(null)}
          />
        </Dialog>
      )}
    </Section>
  );
}
