import { t } from '@svc/chat-ui/language/t.ts';
import type { NamedPersona, PersonaList, PersonaView } from '@svc/contract/persona.ts';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { call } from '../../../parts/api.ts';
import { Confirm } from '../../../parts/dialog.tsx';
import { bytes } from '../../../parts/format.ts';
import { Loaded, Section } from '../../../parts/page.tsx';
import { useAct, useApi } from '../../../parts/query.ts';
import { toast } from '../../../parts/toast.tsx';
import { EngineView } from './engine-view.tsx';
import { PersonaForm } from './persona-form.tsx';

const path = '/core/v2/persona';
const namedPath = '/core/v2/personas';
const sources: Record<PersonaView['source'], string> = {
  'built-in': t('Built in: you have added nothing to it.'),
  extended: t('Built in, followed by your own text.'),
  replaced: t('Yours, in place of the built-in one.'),
};
type Open = { name: string | null; file: string };

/** The persona that every engine gets, and those of single channels. */
export function Personas() {
  const query = useApi<PersonaView>(path);
  const [open, setOpen] = useState<Open | null>(null);
  return (
    <>
      <Section title={t('What every engine gets')}>
        <Loaded query={query}>
          {({ text, bytes: size, source, fault, own }) => (
            <>
              <p>
                {sources[source]} <span className="muted">{bytes(size)}</span>
              </p>
              {fault !== null && <p className="fault">{fault}</p>}
              <p>
                <button type="button" className="primary" onClick={() => setOpen({ name: null, file: own })}>
                  {t('Edit persona')}
                </button>
              </p>
              <pre className="diff words" tabIndex={0} role="region" aria-label={t('The persona')}>
                {text}
              </pre>
            </>
          )}
        </Loaded>
      </Section>
      <EngineView />
      <Named onOpen={setOpen} />
      {open !== null && <PersonaForm {...open} onClose={() => setOpen(null)} />}
    </>
  );
}

function Named({ onOpen }: { onOpen(open: Open): void }) {
  const query = useApi<PersonaList>(namedPath);
  const [removed, setRemoved] = useState<string | null>(null);
  const remove = useAct({ changes: [namedPath], done: t('The persona is removed.'), onDone: () => setRemoved(null) });
  const pathOf = (name: string) => `${namedPath}/${encodeURIComponent(name)}`;
  const edit = async (name: string) => {
    try {
      onOpen({ name, file: (await call<NamedPersona>('GET', pathOf(name))).own });
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), 'fault');
    }
  };
  return (
    <Section
      title={t('For single channels')}
      actions={
        <button type="button" className="plain-button" onClick={() => onOpen({ name: '', file: '' })}>
          <Plus aria-hidden size={16} /> {t('Add persona')}
        </button>
      }
    >
      <Loaded query={query} rows={1}>
        {({ personas }) =>
          personas.length === 0 ? (
            <p className="muted">{t('None. A channel whose setting “persona” names one has it in place of the one above.')}</p>
          ) : (
            <ul className="rows-list">
              {personas.map(({ name, used_by: users }) => (
                <li key={name}>
                  <b>{name}</b>
                  <p className="muted small">
                    {users.length === 0 ? t('No channel uses it.') : t('Used by {channels}.', { channels: users.join(', ') })}
                  </p>
                  <p className="row-buttons">
                    <button type="button" className="plain-button" onClick={() => void edit(name)}>
                      {t('Edit {name}', { name })}
                    </button>
                    <button type="button" className="danger" onClick={() => setRemoved(name)}>
                      {t('Remove {name}', { name })}
                    </button>
                  </p>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {removed !== null && (
        <Confirm
          title={t('Remove {name}?', { name: removed })}
          button={t('Remove persona')}
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate({ method: 'DELETE', path: pathOf(removed) })}
          onClose={() => setRemoved(null)}
        >
          <p>{t('Its text is lost.')}</p>
        </Confirm>
      )}
    </Section>
  );
}
