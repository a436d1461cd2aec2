import { t } from '@svc/chat-ui/language/t.ts';
import type { ExplainedIdentity } from '@svc/contract/trust.ts';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { Field } from '../../parts/field.tsx';
import { Section } from '../../parts/page.tsx';
import { useAct } from '../../parts/query.ts';
import { Explained } from './explained.tsx';
import { channelExample } from './trust-words.ts';

/** Why a sender has their rights, grant by grant. The sender is in the address: refusals on other screens link here. */
export function Explain({ onShow }: { onShow(person: string): void }) {
  const { text, ...asked } = useSearch({ from: '/people' });
  const navigate = useNavigate({ from: '/people' });
  const [channel, setChannel] = useState(asked.channel);
  const [sender, setSender] = useState(asked.sender);
  const [key, setKey] = useState(asked.key);
  const [isPublic, setPublic] = useState(asked.public === '1');
  const look = (event: FormEvent) => {
    event.preventDefault();
    const search = { channel: channel.trim(), sender: sender.trim(), key: key.trim(), public: isPublic ? '1' : '', text };
    void navigate({ search, replace: true, resetScroll: false });
  };
  return (
    <Section title={t('Why?')}>
      <form className="in-row" onSubmit={look}>
        <Field label={t('Channel of the sender')}>
          {(props) => (
            <input
              {...props}
              value={channel}
              maxLength={256}
              placeholder={channelExample}
              onChange={({ target }) => setChannel(target.value)}
            />
          )}
        </Field>
        <Field label={t('Their name or number there')}>
          {(props) => <input {...props} value={sender} maxLength={256} onChange={({ target }) => setSender(target.value)} />}
        </Field>
        <Field label={t('In this conversation (if it matters)')}>
          {(props) => <input {...props} value={key} maxLength={512} onChange={({ target }) => setKey(target.value)} />}
        </Field>
        <label className="check">
          <input type="checkbox" checked={isPublic} onChange={({ target }) => setPublic(target.checked)} />{' '}
          {t('where others read along')}
        </label>
        <button type="submit" className="plain-button" disabled={channel.trim() === '' || sender.trim() === ''}>
          {t('Explain')}
        </button>
      </form>
      {asked.channel !== '' && asked.sender !== '' && <Answer key={JSON.stringify(asked)} {...asked} onShow={onShow} />}
    </Section>
  );
}

type Asked = { channel: string; sender: string; key: string; public: string; onShow(person: string): void };

function Answer({ channel, sender, key: conversation, public: isPublic, onShow }: Asked) {
  const [found, setFound] = useState<ExplainedIdentity | null>(null);
  const place = useRef<HTMLDivElement>(null);
  const { mutate } = useAct<ExplainedIdentity>({ onDone: setFound });
  useEffect(() => {
    const body = {
      channel,
      sender: { raw_id: sender },
      public: isPublic === '1',
      ...(conversation !== '' && { conversation_key: conversation }),
      explain: true,
    };
    mutate({ method: 'POST', path: '/core/trust/resolve', body });
  }, [channel, sender, conversation, isPublic, mutate]);
  useEffect(() => {
    // Newer browsers return a promise, which an effect must not return.
    place.current?.scrollIntoView({ block: 'nearest' });
  }, [found]);
  return <div ref={place}>{found !== null && <Explained {...found} onShow={onShow} />}</div>;
}
