import { t } from '@svc/chat-ui/language/t.ts';
import type { ApiKey, ApiKeyCreated, ApiKeyList, ApiKeyRevoked } from '@svc/contract/api-key.ts';
import { useState } from 'react';
import { Confirm } from '../../../parts/dialog.tsx';
import { money } from '../../../parts/format.ts';
import { Loaded, Section } from '../../../parts/page.tsx';
import { useAct, useProvenApi } from '../../../parts/query.ts';
import { Status } from '../../../parts/status.tsx';
import { toast } from '../../../parts/toast.tsx';
import { KeyUse } from './key-use.tsx';
import { keysPath, MakeKey, NewKey } from './make-key.tsx';

/** The keys of the chat completions API: whom each acts for, its budget, making and revoking one. */
export function ApiKeys() {
  const query = useProvenApi<ApiKeyList>(keysPath);
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<ApiKeyCreated | null>(null);
  const places = query.data?.connectors ?? [];
  return (
    <Section
      title={t('API keys')}
      actions={
        <button type="button" className="plain-button" disabled={places.length === 0} onClick={() => setMaking(true)}>
          {t('Make key')}
        </button>
      }
    >
      <p className="muted">
        {t('Programs that speak the OpenAI protocol use the assistant with one. Each acts for a person, with their rights.')}
      </p>
      <Loaded query={query}>
        {({ keys, connectors }) => (
          <>
            {connectors.map(
              ({ connector, fault }) =>
                fault !== null && (
                  <p key={connector} className="fault small" role="status">
                    {connector}: {fault}
                  </p>
                ),
            )}
            {keys.length === 0 && <p className="muted">{t('There is none.')}</p>}
            <ul className="rows-list">
              {keys.map((key, index) => (
                // A hand-written file may have a name twice.
                <KeyRow key={`${key.connector} ${key.name} ${index}`} apiKey={key} isOneOfSeveral={connectors.length > 1} />
              ))}
            </ul>
          </>
        )}
      </Loaded>
      {isMaking && (
        <MakeKey
          places={places}
          onClose={() => setMaking(false)}
          onMade={(created) => {
            setMaking(false);
            setMade(created);
          }}
        />
      )}
      {made !== null && <NewKey made={made} onClose={() => setMade(null)} />}
    </Section>
  );
}

function KeyRow({ apiKey, isOneOfSeveral }: { apiKey: ApiKey; isOneOfSeveral: boolean }) {
  const { name, ending, for: person, connector, budget } = apiKey;
  const [isAsked, setAsked] = useState(false);
  const isSpent = budget !== null && budget.spent_usd >= budget.month_usd;
  const facts = [
    ...(ending === '' ? [] : [t('ends in {ending}', { ending })]),
    budget === null
      ? t('no budget of its own')
      : t('{spent} of {most} this month', { spent: money(budget.spent_usd), most: money(budget.month_usd) }),
    ...(isOneOfSeveral ? [connector] : []),
  ];
  return (
    <li>
      <div className="line-between">
        <b>{name}</b>
        {person === null ? (
          <Status kind="bad" words={t('refused: it acts for nobody')} />
        ) : isSpent ? (
          <Status kind="warn" words={t('budget is spent')} />
        ) : (
          <Status kind="ok" words={t('acts for {person}', { person })} />
        )}
      </div>
      <p className="muted small">{facts.join(' · ')}</p>
      <KeyUse name={name} />
      <p className="row-buttons">
        <button type="button" className="danger" aria-label={t('Revoke key {name}', { name })} onClick={() => setAsked(true)}>
          {t('Revoke key')}
        </button>
      </p>
      {isAsked && <RevokeKey apiKey={apiKey} onClose={() => setAsked(false)} />}
    </li>
  );
}

/** Longer than the core waits for the API to refuse it. */
const revokeMs = 45_000;

function RevokeKey({ apiKey: { name, for: person, connector }, onClose }: { apiKey: ApiKey; onClose(): void }) {
  const act = useAct<ApiKeyRevoked>({
    changes: [keysPath, '/core/trust/', '/core/v2/spend'],
    onDone({ effective }) {
      if (effective) toast(t('The key {name} is revoked: it is refused from now on.', { name }));
      else toast(t('The key {name} is off the list, but its channel did not refuse it yet.', { name }), 'fault');
      onClose();
    },
  });
  const path = `${keysPath}/${encodeURIComponent(name)}?connector=${encodeURIComponent(connector)}`;
  return (
    <Confirm
      title={t('Revoke the key {name}?', { name })}
      button={t('Revoke key')}
      isBusy={act.isPending}
      onClose={onClose}
      onConfirm={() => act.mutate({ method: 'DELETE', path, timeoutMs: revokeMs })}
    >
      <p>
        {person === null
          ? t(
              'Programs with it are refused from now on (401). It cannot be restored; its budget is removed with it. What was said stays.',
            )
          : t(
              'Programs with it, which act for {person}, are refused from now on (401). It cannot be restored; its budget is removed with it. What was said stays.',
              { person },
            )}
      </p>
    </Confirm>
  );
}
