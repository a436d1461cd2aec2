import { t } from '@svc/chat-ui/language/t.ts';
import { Field } from '../../parts/field.tsx';

/** When a grant ends: in a number of hours, at a time (`at`, in the format of the browser's field), or never. */
export type End = { span: keyof typeof spans; at: string };

const hourMs = 3_600_000;
const spans = {
  '1': t('for an hour'),
  '24': t('for a day'),
  '168': t('for a week'),
  '744': t('for a month'),
  at: t('until a time'),
  '': t('for good'),
} as const;

export const forGood: End = { span: '', at: '' };
export const forADay: End = { span: '24', at: '' };

/** Epoch ms; null for no end. */
export function endOf({ span, at }: End): number | null {
  if (span === '') return null;
  return span === 'at' ? new Date(at).getTime() : Date.now() + Number(span) * hourMs;
}

/** Why the end is invalid; null when it is valid. */
export function endFault(end: End): string | null {
  if (end.span !== 'at') return null;
  if (end.at === '') return t('Enter a time.');
  return (endOf(end) ?? 0) > Date.now() ? null : t('That time has passed.');
}

type Props = { end: End; label?: string; onEnd(end: End): void };

export function EndField({ end, label = t('How long'), onEnd }: Props) {
  return (
    <>
      <Field label={label}>
        {(props) => (
          <select {...props} value={end.span} onChange={({ target }) => onEnd({ ...end, span: target.value as End['span'] })}>
            {Object.entries(spans).map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        )}
      </Field>
      {end.span === 'at' && (
        <Field label={t('Until')} fault={end.at === '' ? null : endFault(end)}>
          {(props) => (
            <input
              {...props}
              type="datetime-local"
              value={end.at}
              onChange={({ target }) => onEnd({ ...end, at: target.value })}
            />
          )}
        </Field>
      )}
    </>
  );
}
