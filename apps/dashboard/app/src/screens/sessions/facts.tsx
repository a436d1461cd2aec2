import { plural, t } from '@svc/chat-ui/language/t.ts';
import type { Session } from '@svc/contract/session.ts';
import { useNavigate } from '@tanstack/react-router';
import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { sessionPath } from '../../parts/conversation/watch-session.ts';
import { Confirm } from '../../parts/dialog.tsx';
import { count, fullTime, money } from '../../parts/format.ts';
import { Loaded, Section } from '../../parts/page.tsx';
import { useAct } from '../../parts/query.ts';
import { stateWords } from './state-words.ts';

/** The facts of a session and its actions. */
export function Facts({ conversationKey: key, query }: { conversationKey: string; query: UseQueryResult<Session> }) {
  return (
    <div className="view">
      <Loaded query={query}>
        {(session) => (
          <>
            <dl className="facts-list">
              {factsOf(session).map(([name, value]) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
            </dl>
            <Acts conversationKey={key} session={session} />
          </>
        )}
      </Loaded>
    </div>
  );
}

const none = <span className="muted">{t('none')}</span>;

const factsOf = (session: Session): [string, ReactNode][] => [
  [t('Name'), <span className="path">{session.conversation_key}</span>],
  [t('Channel'), [session.surface, session.instance_id].filter((part) => part !== null).join(' · ')],
  [t('Replies go to'), session.outbound_target ?? none],
  [t('State'), session.claimed_by === null ? stateWords[session.state] : t('claimed by {who}', { who: session.claimed_by })],
  [t('Engine'), session.engine_id ?? none],
  [t('Model'), session.model ?? none],
  [
    t("The engine's own session"),
    session.engine_session_id === null ? none : <span className="path">{session.engine_session_id}</span>,
  ],
  [t('Folder'), session.cwd === null ? none : <span className="path">{session.cwd}</span>],
  [t('Turns'), count(session.turns)],
  [t('Tokens'), t('{input} in, {output} out', { input: count(session.input_tokens), output: count(session.output_tokens) })],
  [
    t('At list prices'),
    session.unpriced_turns === 0
      ? money(session.cost_usd)
      : plural(
          session.unpriced_turns,
          '{price}, and {n} turn without a known price',
          '{price}, and {n} turns without a known price',
          { price: money(session.cost_usd) },
        ),
  ],
  [t('Started'), fullTime(session.created_at)],
  [t('Last'), fullTime(session.last_active_at)],
];

function Acts({ conversationKey: key, session }: { conversationKey: string; session: Session }) {
  const [asked, setAsked] = useState<'forget' | 'kill' | null>(null);
  const navigate = useNavigate();
  const changes = ['/core/v2/session', '/collector/api/sessions'];
  const body = { conversation_key: key };
  const name = session.title ?? key;
  const claim = useAct({ changes, done: t('Claimed: its channel only listens until you give it back.') });
  const release = useAct({ changes, done: t('Given back to its channel.') });
  const stop = useAct({ changes, done: t('The turn is being stopped.') });
  const kill = useAct({ changes, done: t('Its program is ended.'), onDone: () => setAsked(null) });
  const forget = useAct({
    changes,
    done: t('Forgotten.'),
    onDone: () => {
      setAsked(null);
      void navigate({ to: '/sessions' });
    },
  });
  const isRunning = session.state === 'running' || session.state === 'queued';
  return (
    <Section title={t('What can be done')}>
      <p className="row-buttons">
        {isRunning && (
          <button
            type="button"
            className="danger"
            disabled={stop.isPending}
            onClick={() => stop.mutate({ method: 'POST', path: '/core/v2/abort', body })}
          >
            {t('Stop the turn')}
          </button>
        )}
        {session.claimed_by === null ? (
          <button
            type="button"
            className="plain-button"
            disabled={claim.isPending}
            onClick={() => claim.mutate({ method: 'POST', path: '/core/v2/claim', body })}
          >
            {t('Claim session')}
          </button>
        ) : (
          <button
            type="button"
            className="plain-button"
            disabled={release.isPending}
            onClick={() => release.mutate({ method: 'POST', path: '/core/v2/release', body })}
          >
            {t('Give session back')}
          </button>
        )}
        <button type="button" className="danger" onClick={() => setAsked('kill')}>
          {t('End its program')}
        </button>
        <button type="button" className="danger" onClick={() => setAsked('forget')}>
          {t('Forget session')}
        </button>
      </p>
      {asked === 'forget' && (
        <Confirm
          title={t('Forget this session?')}
          button={t('Forget session')}
          isBusy={forget.isPending}
          onClose={() => setAsked(null)}
          onConfirm={() => forget.mutate({ method: 'DELETE', path: sessionPath(key) })}
        >
          <p>
            {t(
              'What was said in “{session}” is removed, and its next message starts a new conversation. This cannot be undone.',
              {
                session: name,
              },
            )}
          </p>
        </Confirm>
      )}
      {asked === 'kill' && (
        <Confirm
          title={t('End its program?')}
          button={t('End program')}
          isBusy={kill.isPending}
          onClose={() => setAsked(null)}
          onConfirm={() => kill.mutate({ method: 'POST', path: '/collector/api/control/kill', body: { session_id: key } })}
        >
          <p>
            {t('The program that works for “{session}” is ended at once. What it was doing is left as it is.', { session: name })}
          </p>
        </Confirm>
      )}
    </Section>
  );
}
