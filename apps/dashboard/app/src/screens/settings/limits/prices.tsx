import { type ModelPrice, modelPriceSchema, type PricingReport } from '@svc/contract/cost.ts';
import { Plus, RefreshCw } from 'lucide-react';
import { useState } from 'react';
import { Dialog } from '../../../parts/dialog.tsx';
import { counted } from '../../../parts/format.ts';
import { Loaded, Section } from '../../../parts/page.tsx';
import { useAct, useApi } from '../../../parts/query.ts';
import { ActForm } from '../../../parts/schema-form/act-form.tsx';
import { type Column, Table } from '../../../parts/table.tsx';

const path = '/core/v2/pricing';
type Row = { model: string; price: ModelPrice; isOwn: boolean };

const amount = (value: number | undefined): string => (value === undefined ? '–' : String(value));
const columns: readonly Column<Row>[] = [
  { name: 'Model', isMain: true, cell: ({ model, isOwn }) => (isOwn ? `${model} (yours)` : model) },
  { name: 'In', isNumber: true, cell: ({ price }) => amount(price.in) },
  { name: 'Out', isNumber: true, cell: ({ price }) => amount(price.out) },
  { name: 'Cache read', isNumber: true, cell: ({ price }) => amount(price.cache_read) },
  { name: 'Cache write', isNumber: true, cell: ({ price }) => amount(price.cache_write) },
];

/** The list prices in force, and the models that were used without one. */
export function Prices() {
  const query = useApi<PricingReport>(path);
  const reload = useAct({ changes: [path], done: 'The price file is in force.' });
  const [text, setText] = useState('');
  const [isOpen, setOpen] = useState(false);
  const remove = useAct({ changes: [path], done: 'The built-in price counts again, if there is one.' });
  return (
    <Section
      title="Prices"
      actions={
        <>
          <button
            type="button"
            className="plain-button"
            disabled={reload.isPending}
            onClick={() => reload.mutate({ method: 'POST', path: `${path}/reload` })}
          >
            <RefreshCw aria-hidden size={16} /> Read the price file again
          </button>
          <button type="button" className="primary" onClick={() => setOpen(true)}>
            <Plus aria-hidden size={16} /> Set price
          </button>
        </>
      }
    >
      <Loaded query={query}>
        {({ models, source, unpriced }) => (
          <>
            <p className="muted small">
              USD for 1,000,000 tokens. Built in as of {source.built_in}; yours are in <span className="path">{source.file}</span>
              , or <code>./svc price set</code> writes them.
            </p>
            {source.fault !== null && <p className="fault">The price file is refused: {source.fault}.</p>}
            {unpriced.map(({ engine_id: engine, model, runs }) => (
              <p key={`${engine} ${model ?? ''}`} className="small">
                {model ?? engine} has no price, so {counted(runs, 'run')} of it counted nothing.
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
                    Remove your price of {model}
                  </button>
                ))}
              </p>
            )}
            <div className="filters">
              <input
                type="search"
                aria-label="Find a model"
                placeholder="Find a model"
                value={text}
                onChange={({ target }) => setText(target.value)}
              />
            </div>
            <Table
              caption="Prices of models"
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
    model: { type: 'string', title: 'Model', description: 'Its name, or how the names of several begin.' },
    ...modelPriceSchema.properties,
  },
} as const;

/** A price of one's own over the built-in one. */
function SetPrice({ onClose }: { onClose(): void }) {
  return (
    <Dialog title="Set a price" onClose={onClose}>
      <ActForm
        schema={schema}
        button="Set price"
        changes={[path]}
        toCall={({ model, ...price }) => ({ method: 'PUT', path: pathOf(String(model)), body: price })}
        done={() => 'The price is in force.'}
        onClose={onClose}
      >
        <p className="muted small">In USD for 1,000,000 tokens. What is left empty stays as it is.</p>
      </ActForm>
    </Dialog>
  );
}

/** Your own first. */
const rowsOf = (models: PricingReport['models'], own: readonly string[], text: string): Row[] =>
  Object.entries(models)
    .filter(([model]) => model.includes(text))
    .map(([model, price]) => ({ model, price, isOwn: own.includes(model) }))
    .toSorted((a, b) => Number(b.isOwn) - Number(a.isOwn));
