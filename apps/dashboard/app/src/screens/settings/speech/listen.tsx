import { t } from '@svc/chat-ui/language/t.ts';
import { record, type Recording } from '@svc/chat-ui/voice/recorder.ts';
import type { Transcription } from '@svc/contract/speech.ts';
import { Mic, Square } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { call, withQuery } from '../../../parts/api.ts';
import { Field } from '../../../parts/field.tsx';

const listenMs = 110_000;
/** `file`: its name; null for what was recorded here. */
type Heard = Transcription & { file: string | null };

/** Transcribes a clip that is recorded here, or a file. */
export function Listen() {
  const [language, setLanguage] = useState('');
  const [heard, setHeard] = useState<Heard | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [isRecording, setRecording] = useState(false);
  /** The microphone, which the browser may give only after this screen was left. */
  const opened = useRef<Promise<Recording | null> | null>(null);
  useEffect(() => () => void opened.current?.then((recording) => recording?.cancel()), []);

  const transcribe = async (clip: Blob, file: string | null) => {
    setBusy(true);
    setFault(null);
    setHeard(null);
    try {
      const path = withQuery('/core/v2/transcribe', { language: language.trim() });
      setHeard({ ...(await call<Transcription>('POST', path, { body: clip, timeoutMs: listenMs })), file });
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  const begin = async () => {
    if (opened.current !== null) return;
    setFault(null);
    const mine = record({ activity: null, onEnd: () => void ending.current() }).catch(() => null);
    opened.current = mine;
    if ((await mine) !== null) return setRecording(true);
    opened.current = null;
    setFault(t('There is no microphone, or this page may not use it. Allow it in the browser, or choose a file.'));
  };
  const end = async () => {
    const mine = opened.current;
    opened.current = null;
    const recording = await mine;
    if (recording === null) return;
    setRecording(false);
    const clip = await recording.stop();
    if (clip.size === 0) setFault(t('Nothing was recorded. Speak before you stop the recording.'));
    else await transcribe(clip, null);
  };
  const ending = useRef(end);
  ending.current = end;

  return (
    <div className="stack">
      <Field label={t('Language')} hint={t('A code such as en or de; empty for whatever it is.')}>
        {(props) => (
          <input
            {...props}
            value={language}
            maxLength={16}
            autoComplete="off"
            onChange={({ target }) => setLanguage(target.value)}
          />
        )}
      </Field>
      <Field label={t('Clip')} fault={fault}>
        {(props) => (
          <input
            {...props}
            type="file"
            accept="audio/*"
            disabled={isBusy}
            onChange={({ target }) => {
              const [file] = target.files ?? [];
              if (file !== undefined) void transcribe(file, file.name);
            }}
          />
        )}
      </Field>
      <p className="row-buttons">
        {!isRecording ? (
          <button type="button" className="plain-button" disabled={isBusy} onClick={() => void begin()}>
            <Mic aria-hidden size={16} /> {t('Record a clip')}
          </button>
        ) : (
          <button type="button" className="primary" onClick={() => void end()}>
            <Square aria-hidden size={16} /> {t('Stop recording')}
          </button>
        )}
      </p>
      <div role="status">
        {isBusy && <p className="muted">{t('Listening to it.')}</p>}
        {heard !== null && (
          <>
            <p className="muted small">{heardBy(heard)}</p>
            <p className="engine-words">{heard.text === '' ? t('no words') : heard.text}</p>
          </>
        )}
      </div>
    </div>
  );
}

function heardBy({ file, provider, model, seconds: length }: Heard): string {
  const seconds = length.toFixed(1);
  return file === null
    ? t('In what was recorded, {seconds} s, {provider} ({model}) heard:', { seconds, provider, model })
    : t('In {file}, {seconds} s, {provider} ({model}) heard:', { file, seconds, provider, model });
}
