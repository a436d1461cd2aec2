import { t } from '@svc/chat-ui/language/t.ts';
import type { ExplainedIdentity, Principal } from '@svc/contract/trust.ts';
import { useState } from 'react';
import { useAct } from '../../parts/query.ts';
import { Explained } from './explained.tsx';

/** Why a person has their rights, for each name that they write under. */
export function WhyPerson({ person }: { person: Principal }) {
  const [found, setFound] = useState<ExplainedIdentity | null>(null);
  const ask = useAct<ExplainedIdentity>({ onDone: setFound });
  if (person.identifiers.length === 0) return null;
  return (
    <section className="stack" aria-label={t('Why')}>
      <h3>{t('Why do they have these rights?')}</h3>
      <p className="row-buttons">
        {person.identifiers.map(({ id, surface, value }) => (
          <button
            key={id}
            type="button"
            className="plain-button"
            disabled={ask.isPending}
            onClick={() =>
              ask.mutate({
                method: 'POST',
                path: '/core/trust/resolve',
                body: { channel: surface, sender: { raw_id: value }, explain: true },
              })
            }
          >
            {t('Explain {name}', { name: `${surface} ${value}` })}
          </button>
        ))}
      </p>
      {found !== null && <Explained {...found} />}
    </section>
  );
}
