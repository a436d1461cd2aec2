import { t } from '@svc/chat-ui/language/t.ts';
import { folderTiers } from '@svc/contract/folder.ts';
import type { Instance } from '@svc/contract/instance.ts';
import { useState } from 'react';
import { Dialog } from '../../../parts/dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { useApi } from '../../../parts/query.ts';
import { ActForm } from '../../../parts/schema-form/act-form.tsx';

const schema = {
  type: 'object',
  required: ['cwd'],
  properties: { cwd: { type: 'string', title: t('Folder'), description: t('An absolute path on the machine of the service.') } },
} as const;

type Choice = { words: string; target: object };
/** What the turns of a tier are called. */
export const turnsOf: Readonly<Record<string, string>> = {
  GUEST: t('Turns of guests'),
  KNOWN: t('Turns of people who are known'),
  TRUSTED: t('Turns of people who are trusted'),
  SACRED: t('Turns of owners'),
};

/** Sets the folder of a connector, a channel, or people of a tier. That of one conversation is set at its session. */
export function SetFolder({ path, onClose }: { path: string; onClose(): void }) {
  const { data } = useApi<{ instances: Instance[] }>('/manager/instances');
  const [at, setAt] = useState(0);
  const choices = choicesOf(data?.instances ?? []);
  return (
    <Dialog title={t('Set a folder')} onClose={onClose}>
      <ActForm
        schema={schema}
        button={t('Set folder')}
        changes={[path]}
        toCall={({ cwd }) => ({ method: 'PUT', path, body: { cwd, ...choices[at]?.target } })}
        done={() => t('The folder is set; it applies from the next turn on, for people with full rights.')}
        onClose={onClose}
      >
        <Field label={t('For')}>
          {(props) => (
            <select {...props} value={at} onChange={({ target }) => setAt(Number(target.value))}>
              {choices.map(({ words }, index) => (
                <option key={words} value={index}>
                  {words}
                </option>
              ))}
            </select>
          )}
        </Field>
      </ActForm>
    </Dialog>
  );
}

/** Tiers first, because they always exist: the selection stays while channels are loaded. */
const choicesOf = (instances: readonly Instance[]): Choice[] => [
  ...folderTiers.map((tier) => ({ words: turnsOf[tier] ?? tier, target: { tier } })),
  ...['web', 'shell', ...new Set(instances.map(({ type }) => type))].map((channel) => ({
    words: t('The channel {name}', { name: channel }),
    target: { channel },
  })),
  ...instances.map(({ id, name }) => ({ words: t('The connector {name}', { name }), target: { instance_id: id } })),
];
