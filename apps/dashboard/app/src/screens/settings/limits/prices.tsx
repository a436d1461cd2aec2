import { Rich } from '@svc/chat-ui/language/rich.tsx';
import { plural, t } from '@svc/chat-ui/language/t.ts';
import { type ModelPrice, modelPriceSchema, type PricingReport } from '@svc/contract/cost.ts';
import { Plus, RefreshCw } from 'lucide-react';
import { useState } from 'react';
import { Dialog } from '../../../parts/dialog.tsx';
import { Loaded, Section } from '../../../parts/page.tsx';
import { useAct, useApi } from '../../../parts/query.ts';
import { ActForm } from '../../../parts/schema-form/act-form.tsx';
import { SearchField } from '../../../parts/search-field.tsx';
import { type Column, Table } from '../../../parts/table.tsx';

const path = '/core/v2/pricing';
type Row = { model: string; price: ModelPrice; isOwn: boolean };

const amount = (value: number | undefined): string => (value === undefined ? '–' : String(value));
const columns: readonly Column<Row>[] = [
  { name: t('Model'), isMain: true, cell: ({ model, isOwn }) => (isOwn ? t('{model} (yours)', { model }) : model) },
  { name: t('In'), isNumber: true, cell: ({ price }) => amount(price.in) },
  { name: t('Out'), isNumber: true, cell: ({ price }) => amount(price.out) },
  { name: t('Cache read'), isNumber: true, cell: ({ price }) => amount(price.cache_read) },
  { name: t('Cache write'), isNumber: true, cell: ({ price }) => amount(price.cache_write) },
];

/** The current list prices, and the models that were used without one. */
export function Prices() {
  const query = useApi<PricingReport>(path);
  const reload = useAct({ changes: [path], done: t('The price file now applies.') });
  const [text, setText] = useState('');
  const [isOpen, setOpen] = useState(false);
  const remove = useAct({ changes: [path], done: t('The built-in price applies again, if there is one.') });
  return (
    <Section
      title={t('Prices')}
      actions={
        <>
          <button
            type="button"
            className="plain-button"
            disabled={reload.isPending}
            onClick={() => reload.mutate({ method: 'POST', path: `${path}/reload` })}
          >
            <RefreshCw aria-hidden size={16} /> {t('Read the price file again')}
          </button>
          <button type="button" className="primary" onClick={() => setOpen(true)}>
            <Plus aria-hidden size={16} /> {t('Set price')}
          </button>
        </>
      }
    >
      <Loaded query={query}>
        {({ models, source, unpriced }) => (
          <>
            <p className="muted small">
              <Rich
                text="USD for 1,000,000 tokens. Built in as of {date}; yours are in {file}, or {command} writes them."
                date={source.built_in}
                file={<span className="path">{source.file}</span>}
                command={<code>{'./svc price set'}</code>}
              />
            </p>
            {source.fault !== null && (
              <p className="fault">{t('The price file is refused: {fault}.', { fault: source.fault })}</p>
            )}
            {unpriced.map(({ engine_id: engine, model, runs }) => (
              <p key={`${engine} ${model ?? ''}`} className="small">
                {plural(
                  runs,
                  '{model} has no price, so {n} run of it counted as zero.',
                  '{model} has no price, so {n} runs of it counted as zero.',
                  { model: model ?? engine },
                )}
              </p>
            ))}
            {source.from_file.models.length > 0 && (
              <p className="row-buttons">
                {source.from_file.models.map((model) => (
                  <button
                    key={model}
                    type="button"
                    className="danger"
                    disabled={remove.isPending}
                    onClick={() => remove.mutate({ method: 'DELETE', path: pathOf(model) })}
                  >
                    {t('Remove your price of {model}', { model })}
                  </button>
                ))}
              </p>
            )}
            <div className="filters">
              <SearchField label={t('Find a model')} value={text} onChange={setText} />
            </div>
            <Table
              caption={t('Prices of models')}
              columns={columns}
              rows={rowsOf(models, source.from_file.models, text.trim().toLowerCase())}
              keyOf={({ model }) => model}
            />
          </>
        )}
      </Loaded>
      {isOpen && <SetPrice onClose={() => setOpen(false)} />}
    </Section>
  );
}

const pathOf = (model: string): string => `${path}/models/${encodeURIComponent(model)}`;

const schema = {
  type: 'object',
  required: ['model'],
  properties: {
    model: { type: 'string', title: t('Model'), description: t('Its name, or how the names of several begin.') },
    ...modelPriceSchema.properties,
  },
} as const;

/** Sets the operator's price in place of the built-in one. */
function SetPrice({ onClose }: { onClose(): void }) {
  return (
    <Dialog title={t('Set a price')} onClose={onClose}>
      <ActForm
        schema={schema}
        button={t('Set price')}
        changes={[path]}
        check={({ model: _model, ...price }): Record<string, string> =>
          Object.keys(price).length === 0 ? { in: t('Give at least one price.') } : {}
        }
        toCall={({ model, ...price }) => ({ method: 'PUT', path: pathOf(String(model)), body: price })}
        done={() => t('The price now applies.')}
        onClose={onClose}
      >
        <p className="muted small">{t('In USD for 1,000,000 tokens. What is left empty stays as it is.')}</p>
      </ActForm>
    </Dialog>
  );
}

/** The operator's own prices first. */
const rowsOf = (models: PricingReport['models'], own: readonly string[], text: string): Row[] =>
  Object.entries(models)
    .filter(([model]) => model.includes(text))
    .map(([model, price]) => ({ model, price, isOwn: own.includes(model) }))
    .toSorted((a, b) => Number(b.isOwn) - Number(a.isOwn));
