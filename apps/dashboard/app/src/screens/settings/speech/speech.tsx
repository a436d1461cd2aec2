import type { SpeechProviderState, SpeechReport } from '@svc/contract/speech.ts';
import { Loaded, Section } from '../../../parts/page.tsx';
import { useApi } from '../../../parts/query.ts';
import { Status } from '../../../parts/status.tsx';
import { Listen } from './listen.tsx';
import { Speak } from './speak.tsx';

const names: Record<SpeechProviderState['provider'], string> = {
  espeak: 'espeak-ng, on this machine',
  openai: 'OpenAI, or a server that speaks as it does',
  elevenlabs: 'ElevenLabs',
};

/** Who speaks and listens, what the others lack, and a try of each. */
export function Speech() {
  const query = useApi<SpeechReport>('/core/v2/speech');
  return (
    <Loaded query={query}>
      {({ tts, stt, max_characters: most }) => (
        <>
          <Section title="Speaking">
            <Providers states={tts} setting="SVC_TTS" />
            {isReady(tts) && <Speak maxCharacters={most} />}
          </Section>
          <Section title="Listening">
            <Providers states={stt} setting="SVC_STT" />
            {isReady(stt) && <Listen />}
          </Section>
          <p className="muted small">
            Who is used is a setting of the installation: see <code>docs/speech.md</code>. A key is kept where secrets are.
          </p>
        </>
      )}
    </Loaded>
  );
}

const isReady = (states: readonly SpeechProviderState[]): boolean => states.some(({ chosen, ready }) => chosen && ready);

function Providers({ states, setting }: { states: readonly SpeechProviderState[]; setting: string }) {
  return (
    <>
      {!states.some(({ chosen }) => chosen) && (
        <p>
          Nobody is set. Write <code>{setting}_PROVIDER</code>, or <code>{setting}_BASE_URL</code> for a server of your own, into{' '}
          <code>.env</code> and restart the service.
        </p>
      )}
      <ul className="rows-list">
        {states.map(({ provider, chosen, ready, model, is_paid: isPaid, reason }) => (
          <li key={provider}>
            <div className="line-between">
              <b>{names[provider]}</b>
              {chosen ? (
                <Status kind={ready ? 'ok' : 'bad'} words={ready ? 'in use' : 'set, but not ready'} />
              ) : (
                <Status kind={ready ? 'none' : 'off'} words={ready ? 'could be used' : 'not ready'} />
              )}
            </div>
            <p className="muted small">
              {reason ?? [model, isPaid ? 'paid by the call' : 'costs nothing'].filter((part) => part !== null).join(' · ')}
            </p>
          </li>
        ))}
      </ul>
    </>
  );
}
