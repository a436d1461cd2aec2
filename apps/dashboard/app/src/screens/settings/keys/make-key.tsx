import { t } from '@svc/chat-ui/language/t.ts';
import { apiKeyNamePattern, type ApiKeyCreated, type ApiKeyPlace } from '@svc/contract/api-key.ts';
import { useState } from 'react';
import { FormButtons } from '../../../parts/form-buttons.tsx';
import { NameField } from '../../../parts/name-field.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { money } from '../../../parts/format.ts';
import { useAct } from '../../../parts/query.ts';
import { useAllPeople } from '../../../parts/use-people.ts';
import { readNumber } from '../../../parts/read-number.ts';
import { ShownOnce } from '../../../parts/shown-once.tsx';

export const keysPath = '/core/v2/keys';
const isName = new RegExp(apiKeyNamePattern);
/** Longer than the core waits for the API to accept it. */
const makeMs = 45_000;

type Props = { places: readonly ApiKeyPlace[]; onMade(made: ApiKeyCreated): void; onClose(): void };

/** Asks for the name of a new key, whom it acts for, and its budget. */
export function MakeKey({ places, onMade, onClose }: Props) {
  const people = useAllPeople();
  const [name, setName] = useState('');
  const [person, setPerson] = useState('');
  const [budget, setBudget] = useState('');
  const [connector, setConnector] = useState(places[0]?.connector ?? '');
  const act = useAct<ApiKeyCreated>({ changes: [keysPath, '/core/trust/', '/core/v2/spend'], isSecret: true, onDone: onMade });
  const usd = readNumber(budget);
  const isBadName = name !== '' && !isName.test(name);
  const isBadBudget = budget.trim() !== '' && !(usd !== null && usd >= 0 && usd <= 1e9);
  const body = { name, connector, ...(person !== '' && { for: person }), ...(usd !== null && { month_usd: usd }) };
  return (
    <Dialog title={t('Make key')} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          act.mutate({ method: 'POST', path: keysPath, body, timeoutMs: makeMs });
        }}
      >
        <NameField
          hint={t('What uses it, for example laptop. It is shown as the sender of its messages.')}
          value={name}
          fault={isBadName ? t('Use up to 64 of A–Z, a–z, 0–9, “.”, “_” and “-”, beginning with a letter or a digit.') : null}
          onChange={setName}
        />
        <Field label={t('Acts for')} fault={people.error?.message ?? null}>
          {(props) => (
            <select {...props} value={person} onChange={({ target }) => setPerson(target.value)}>
              <option value="">{t('the owner')}</option>
              {(people.data?.principals ?? []).map(({ key, display_name: known }) => (
                <option key={key} value={key}>
                  {known} ({key})
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field
          label={t('Budget for a month, USD')}
          hint={t('At list prices, in a calendar month. Empty: none but the limits of the service.')}
          fault={isBadBudget ? t('It is a number, such as 20 or 0.50.') : null}
        >
          {(props) => (
            <input
              {...props}
              inputMode="decimal"
              autoComplete="off"
              value={budget}
              onChange={({ target }) => setBudget(target.value)}
            />
          )}
        </Field>
        {places.length > 1 && (
          <Field label={t('Channel')}>
            {(props) => (
              <select {...props} value={connector} onChange={({ target }) => setConnector(target.value)}>
                {places.map(({ connector: id, name: known }) => (
                  <option key={id} value={id}>
                    {known} ({id})
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        <FormButtons
          submit={act.isPending ? t('Making the key') : t('Make key')}
          isOff={act.isPending || !isName.test(name) || isBadBudget}
          onClose={onClose}
        />
      </form>
    </Dialog>
  );
}

/** A new key, shown once. */
export function NewKey({
  made: { name, key, for: person, url, budget_usd: budget, effective },
  onClose,
}: {
  made: ApiKeyCreated;
  onClose(): void;
}) {
  const base = url === null ? null : `${url}/v1`;
  const example = [
    `curl ${base ?? 'BASE_URL'}/chat/completions \\`,
    `  -H 'authorization: Bearer ${key}' -H 'content-type: application/json' \\`,
    `  -d '{"model":"svc","messages":[{"role":"user","content":"hello"}]}'`,
  ].join('\n');
  return (
    <Dialog title={t('The key {name}', { name })} onClose={onClose} wide>
      <div className="stack">
        <p>
          {budget === null
            ? t('It acts for {person}. It is shown only once: store it where the program finds it.', { person })
            : t(
                'It acts for {person}, and may spend {amount} a month. It is shown only once: store it where the program finds it.',
                { person, amount: money(budget) },
              )}
        </p>
        {(base === null || !effective) && (
          <p className="fault">{t('Its channel is not running, or does not accept it yet. Check it under Channels.')}</p>
        )}
        <ShownOnce label={t('Key')} text={key} copy={t('Copy key')} />
        {base !== null && <ShownOnce label={t('Base URL')} text={base} copy={t('Copy base URL')} />}
        <ShownOnce label={t('Example')} text={example} copy={t('Copy example')} />
        <p className="row-buttons">
          <button type="button" className="primary" onClick={onClose}>
            {t('I have stored it')}
          </button>
        </p>
      </div>
    </Dialog>
  );
}
