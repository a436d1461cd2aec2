import { Rich } from '@svc/chat-ui/language/rich.tsx';
import { t } from '@svc/chat-ui/language/t.ts';
import type { SpeechProviderState, SpeechReport } from '@svc/contract/speech.ts';
import { Loaded, Section } from '../../../parts/page.tsx';
import { useApi } from '../../../parts/query.ts';
import { Status } from '../../../parts/status.tsx';
import { Listen } from './listen.tsx';
import { Speak } from './speak.tsx';

const names: Record<SpeechProviderState['provider'], string> = {
  espeak: t('espeak-ng, on this machine'),
  openai: t('OpenAI, or a server with its API'),
  elevenlabs: 'ElevenLabs',
};

/** The providers of speech, what the others lack, and a test of each. */
export function Speech() {
  const query = useApi<SpeechReport>('/core/v2/speech');
  return (
    <Loaded query={query}>
      {({ tts, stt, max_characters: most }) => (
        <>
          <Section title={t('Speaking')}>
            <Providers states={tts} setting="SVC_TTS" />
            {isReady(tts) && <Speak maxCharacters={most} />}
          </Section>
          <Section title={t('Listening')}>
            <Providers states={stt} setting="SVC_STT" />
            {isReady(stt) && <Listen />}
          </Section>
          <p className="muted small">
            <Rich
              text="The provider is a setting of the installation: see {page}. A key is stored with the secrets."
              page={<code>{'docs/speech.md'}</code>}
            />
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
          <Rich
            text="No provider is set. Write {provider}, or {address} for a server of your own, into {file} and restart the service."
            provider={<code>{`${setting}_PROVIDER`}</code>}
            address={<code>{`${setting}_BASE_URL`}</code>}
            file={<code>{'.env'}</code>}
          />
        </p>
      )}
      <ul className="rows-list">
        {states.map(({ provider, chosen, ready, model, is_paid: isPaid, reason }) => (
          <li key={provider}>
            <div className="line-between">
              <b>{names[provider]}</b>
              {chosen ? (
                <Status kind={ready ? 'ok' : 'bad'} words={ready ? t('in use') : t('set, but not ready')} />
              ) : (
                <Status kind={ready ? 'none' : 'off'} words={ready ? t('could be used') : t('not ready')} />
              )}
            </div>
            <p className="muted small">
              {reason ?? [model, isPaid ? t('billed per call') : t('costs nothing')].filter((part) => part !== null).join(' · ')}
            </p>
          </li>
        ))}
      </ul>
    </>
  );
}
