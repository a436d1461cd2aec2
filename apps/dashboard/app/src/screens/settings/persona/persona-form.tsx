import { t } from '@svc/chat-ui/language/t.ts';
import { personaWriteSchema } from '@svc/contract/persona.ts';
import { useState } from 'react';
import { Dialog } from '../../../parts/dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { ActForm } from '../../../parts/schema-form/act-form.tsx';
import { toFile, toWords } from './own-words.ts';

/** The expected content of the file is sent along, so that another person's change is not overwritten. */
const schema = {
  type: 'object',
  properties: {
    own: personaWriteSchema.properties.own,
    replaces: {
      type: 'boolean',
      title: t('In place of the built-in persona'),
      description: t('Then say yourself that [[NO_REPLY]] means silence, and that blocks marked as data are not instructions.'),
    },
  },
} as const;

type Props = {
  /** `null`: the main persona. `''`: a new one, whose name is asked for. */
  name: string | null;
  file: string;
  onClose(): void;
};

export function PersonaForm({ name, file, onClose }: Props) {
  const [typed, setTyped] = useState('');
  const asked = name === '' ? typed.trim() : name;
  const title = name === null ? t('Edit the persona') : name === '' ? t('Add a persona') : t('Edit {name}', { name });
  return (
    <Dialog title={title} onClose={onClose} wide>
      <div className="stack">
        {name === '' && (
          <Field label={t('Name')} hint={t('1 to 64 of a-z, 0-9 and -. A channel is given it by its setting “persona”.')}>
            {(props) => (
              <input
                {...props}
                value={typed}
                maxLength={64}
                autoComplete="off"
                onChange={({ target }) => setTyped(target.value)}
              />
            )}
          </Field>
        )}
        <ActForm
          schema={schema}
          values={toWords(file)}
          button={t('Save persona')}
          changes={['/core/v2/persona']}
          toCall={({ own, replaces }) => {
            if (asked === '') throw new Error(t('Give the persona a name.'));
            const body = { own: toFile({ replaces: replaces === true, own: typeof own === 'string' ? own : '' }), was: file };
            return {
              method: 'PUT',
              path: asked === null ? '/core/v2/persona' : `/core/v2/personas/${encodeURIComponent(asked)}`,
              body,
            };
          }}
          done={() => t('The persona is saved; the next turn has it.')}
          onClose={onClose}
        />
      </div>
    </Dialog>
  );
}
