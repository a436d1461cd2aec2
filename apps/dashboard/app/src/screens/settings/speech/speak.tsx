import { t } from '@svc/chat-ui/language/t.ts';
import { speechSchema } from '@svc/contract/speech.ts';
import { type FormEvent, useEffect, useState } from 'react';
import { callRaw } from '../../../parts/api.ts';
import { Field } from '../../../parts/field.tsx';
import { type Draft, readDraft, toDraft } from '../../../parts/schema-form/read-draft.ts';
import { SchemaForm } from '../../../parts/schema-form/schema-form.tsx';

const { voice, model, format } = speechSchema.properties;
/** The text has its own control; empty fields mean the settings of the service. */
const schema = { type: 'object', properties: { voice, model, format } } as const;
const speakMs = 100_000;

/** Says a sentence in the page. */
export function Speak({ maxCharacters }: { maxCharacters: number }) {
  const [text, setText] = useState(t('Good morning. This is how I sound.'));
  const [draft, setDraft] = useState<Draft>(() => toDraft(schema, {}));
  const [sound, setSound] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => () => (sound === null ? undefined : URL.revokeObjectURL(sound)), [sound]);

  const say = async (event: FormEvent) => {
    event.preventDefault();
    const read = readDraft(schema, draft);
    if (!read.ok) return;
    setBusy(true);
    setFault(null);
    try {
      const wishes = Object.fromEntries(Object.entries(read.values).filter(([, value]) => value !== null));
      const answer = await callRaw('POST', '/core/v2/tts', { body: { text, ...wishes }, timeoutMs: speakMs });
      setSound(URL.createObjectURL(await answer.blob()));
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };

  return (
    <form className="stack" onSubmit={(event) => void say(event)}>
      <Field label={t('Sentence')} fault={fault}>
        {(props) => (
          <textarea {...props} rows={2} maxLength={maxCharacters} value={text} onChange={({ target }) => setText(target.value)} />
        )}
      </Field>
      <SchemaForm schema={schema} draft={draft} faults={{}} onChange={setDraft} />
      <p className="row-buttons">
        <button type="submit" className="primary" disabled={isBusy || text.trim() === ''}>
          {isBusy ? t('Waiting for the sound') : t('Say it')}
        </button>
      </p>
      {sound !== null && <audio controls autoPlay src={sound} aria-label={t('What was said')} />}
    </form>
  );
}
