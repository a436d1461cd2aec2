import { type EnginePersona, personaTiers, type PersonaTier } from '@svc/contract/persona.ts';
import { useState } from 'react';
import { Field } from '../../../parts/field.tsx';
import { Loaded, Section } from '../../../parts/page.tsx';
import { useApi } from '../../../parts/query.ts';
import { type EngineList, enginesPath } from '../engines.tsx';

const tierWords: Record<PersonaTier, string> = {
  GUEST: 'a guest',
  KNOWN: 'somebody known',
  TRUSTED: 'somebody trusted',
  SACRED: 'an owner',
};
const tools: Record<EnginePersona['tool_policy'], string> = {
  none: 'It has no tools of its own then.',
  read: 'It has tools that read then.',
  full: 'It has every tool then.',
};

/** What one engine makes of the persona, to the letter. */
export function EngineView() {
  const { data } = useApi<EngineList>(enginesPath);
  const [engine, setEngine] = useState('');
  const [tier, setTier] = useState<PersonaTier>('SACRED');
  return (
    <Section title="What one engine makes of it">
      <div className="in-row">
        <Field label="Engine">
          {(props) => (
            <select {...props} value={engine} onChange={({ target }) => setEngine(target.value)}>
              <option value="">Choose one</option>
              {data?.engines.map(({ id }) => (
                <option key={id}>{id}</option>
              ))}
            </select>
          )}
        </Field>
        <Field label="In a turn of">
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
          <pre className="diff words" tabIndex={0} role="region" aria-label={`The persona in ${engine}`}>
            {text}
          </pre>
          <p className="small">{added.length === 0 ? 'Its program adds nothing to it.' : 'Its program adds:'}</p>
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
