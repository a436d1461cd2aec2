import { t } from '@svc/chat-ui/language/t.ts';
import { type EnginePersona, personaTiers, type PersonaTier } from '@svc/contract/persona.ts';
import { useState } from 'react';
import { Field } from '../../../parts/field.tsx';
import { Loaded, Section } from '../../../parts/page.tsx';
import { useApi } from '../../../parts/query.ts';
import { type EngineList, enginesPath } from '../engine-list.ts';

const tierWords: Record<PersonaTier, string> = {
  GUEST: t('a guest'),
  KNOWN: t('a known person'),
  TRUSTED: t('a trusted person'),
  SACRED: t('an owner'),
};
const tools: Record<EnginePersona['tool_policy'], string> = {
  none: t('It then has no tools of its own.'),
  read: t('It then has tools that read.'),
  full: t('It then has every tool.'),
};

/** The exact persona that one engine gets. */
export function EngineView() {
  const { data } = useApi<EngineList>(enginesPath);
  const [engine, setEngine] = useState('');
  const [tier, setTier] = useState<PersonaTier>('SACRED');
  return (
    <Section title={t('The persona in one engine')}>
      <div className="in-row">
        <Field label={t('Engine')}>
          {(props) => (
            <select {...props} value={engine} onChange={({ target }) => setEngine(target.value)}>
              <option value="">{t('Choose one')}</option>
              {data?.engines.map(({ id }) => (
                <option key={id}>{id}</option>
              ))}
            </select>
          )}
        </Field>
        <Field label={t('In a turn of')}>
          {(props) => (
            <select {...props} value={tier} onChange={({ target }) => setTier(target.value as PersonaTier)}>
              {personaTiers.map((one) => (
                <option key={one} value={one}>
                  {tierWords[one]}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      {engine !== '' && <Shown engine={engine} tier={tier} />}
    </Section>
  );
}

function Shown({ engine, tier }: { engine: string; tier: PersonaTier }) {
  const query = useApi<EnginePersona>(`/core/v2/persona/${encodeURIComponent(engine)}?tier=${tier}`);
  return (
    <Loaded query={query}>
      {({ text, added, tool_policy: policy }) => (
        <>
          <p className="small">{tools[policy]}</p>
          <pre className="diff words" tabIndex={0} role="region" aria-label={t('The persona in {engine}', { engine })}>
            {text}
          </pre>
          <p className="small">{added.length === 0 ? t('Its program adds nothing to it.') : t('Its program adds:')}</p>
          <ul className="tools-found small">
            {added.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </>
      )}
    </Loaded>
  );
}
