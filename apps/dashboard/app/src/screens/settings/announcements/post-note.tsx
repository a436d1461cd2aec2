import { t } from '@svc/chat-ui/language/t.ts';
import { announceSchema, type Announced, longestAnnouncement } from '@svc/contract/announcement.ts';
import { useState } from 'react';
import { Dialog } from '../../../parts/dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { count } from '../../../parts/format.ts';
import { ActForm } from '../../../parts/schema-form/act-form.tsx';
import { toast } from '../../../parts/toast.tsx';
import { kindWords, type TargetKind, targetKinds, useTargets } from './targets.ts';

const { text, priority, from } = announceSchema.properties;
/** Recipients and end have their own controls. */
const schema = {
  type: 'object',
  required: ['text'],
  properties: {
    text: { ...text, description: t('At most {most} characters.', { most: count(longestAnnouncement) }) },
    priority,
    from,
  },
} as const;

const hourS = 3600;
const ends: readonly { words: string; ttl: number | null }[] = [
  { words: t('Stays until it is removed'), ttl: null },
  { words: t('In an hour'), ttl: hourS },
  { words: t('In a day'), ttl: 24 * hourS },
  { words: t('In a week'), ttl: 7 * 24 * hourS },
  { words: t('In 30 days'), ttl: 30 * 24 * hourS },
];

export function PostNote({ path, onClose }: { path: string; onClose(): void }) {
  const [kind, setKind] = useState<TargetKind>('all');
  const [target, setTarget] = useState('');
  const [end, setEnd] = useState(0);
  const targets = useTargets(kind);
  const ttl = ends[end]?.ttl ?? null;
  const chosen = kind === 'all' ? '*' : (targets?.find(({ value }) => value === target) ?? targets?.[0])?.value;
  return (
    <Dialog title={t('Post a note')} onClose={onClose}>
      <ActForm<Announced>
        schema={schema}
        button={t('Post note')}
        changes={[path]}
        check={faultsOf}
        toCall={(values) => {
          // A note without a target is for everyone.
          if (chosen === undefined) throw new Error(t('Choose whom the note is for.'));
          return { method: 'POST', path: '/core/v2/announce', body: { ...values, target: chosen, ...(ttl !== null && { ttl }) } };
        }}
        done={() => t('The note is posted.')}
        onDone={({ warning }) => warning !== undefined && toast(warning, 'fault')}
        onClose={onClose}
      >
        <Field label={t('For')}>
          {(props) => (
            <select {...props} value={kind} onChange={({ target: { value } }) => setKind(value as TargetKind)}>
              {targetKinds.map((one) => (
                <option key={one} value={one}>
                  {kindWords[one]}
                </option>
              ))}
            </select>
          )}
        </Field>
        {kind !== 'all' && (
          <Field label={t('Which one')} fault={targets?.length === 0 ? t('There is none.') : null}>
            {(props) => (
              <select {...props} value={chosen ?? ''} onChange={({ target: { value } }) => setTarget(value)}>
                {targets?.map(({ value, words }) => (
                  <option key={value} value={value}>
                    {words}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        <Field label={t('Ends')}>
          {(props) => (
            <select {...props} value={end} onChange={({ target: { value } }) => setEnd(Number(value))}>
              {ends.map(({ words }, index) => (
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

/** The service would cut it silently. */
function faultsOf({ text: words }: Record<string, unknown>): Record<string, string> {
  const length = String(words).length;
  if (length <= longestAnnouncement) return {};
  const counts = { length: count(length), most: count(longestAnnouncement) };
  return { text: t('It has {length} characters, and a note at most {most}.', counts) };
}
