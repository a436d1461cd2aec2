import type { Session } from '@svc/contract/session.ts';
import { useNavigate } from '@tanstack/react-router';
import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { sessionPath } from '../../parts/conversation/watch-session.ts';
import { Confirm } from '../../parts/dialog.tsx';
import { count, fullTime, money } from '../../parts/format.ts';
import { Loaded, Section } from '../../parts/page.tsx';
import { useAct } from '../../parts/query.ts';

/** What is known of a session, and what can be done to it. */
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

const none = <span className="muted">none</span>;

const factsOf = (session: Session): [string, ReactNode][] => [
  ['Name', <span className="path">{session.conversation_key}</span>],
  ['Channel', [session.surface, session.instance_id].filter((part) => part !== null).join(' · ')],
  ['Replies go to', session.outbound_target ?? none],
  ['State', session.claimed_by === null ? session.state : `claimed by ${session.claimed_by}`],
  ['Engine', session.engine_id ?? none],
  ['Model', session.model ?? none],
  [
    "The engine's own session",
    session.engine_session_id === null ? none : <span className="path">{session.engine_session_id}</span>,
  ],
  ['Folder', session.cwd === null ? none : <span className="path">{session.cwd}</span>],
  ['Turns', count(session.turns)],
  ['Tokens', `${count(session.input_tokens)} in, ${count(session.output_tokens)} out`],
  [
    'At list prices',
    session.unpriced_turns === 0
      ? money(session.cost_usd)
      : `${money(session.cost_usd)}, and ${count(session.unpriced_turns)} turns without a known price`,
  ],
  ['Begun', fullTime(session.created_at)],
  ['Last', fullTime(session.last_active_at)],
];

function Acts({ conversationKey: key, session }: { conversationKey: string; session: Session }) {
  const [asked, setAsked] = useState<'forget' | 'kill' | null>(null);
  const navigate = useNavigate();
  const changes = ['/core/v2/session', '/collector/api/sessions'];
  const body = { conversation_key: key };
  const claim = useAct({ changes, done: 'Claimed: its channel only listens until you give it back.' });
  const release = useAct({ changes, done: 'Given back to its channel.' });
  const stop = useAct({ changes, done: 'The turn is being stopped.' });
  const kill = useAct({ changes, done: 'Its program is ended.', onDone: () => setAsked(null) });
  const forget = useAct({
    changes,
    done: 'Forgotten.',
    onDone: () => {
      setAsked(null);
      void navigate({ to: '/sessions' });
    },
  });
  const isRunning = session.state === 'running' || session.state === 'queued';
  return (
    <Section title="What can be done">
      <p className="row-buttons">
        {isRunning && (
          <button
            type="button"
            className="danger"
            disabled={stop.isPending}
            onClick={() => stop.mutate({ method: 'POST', path: '/core/v2/abort', body })}
          >
            Stop the turn
          </button>
        )}
        {session.claimed_by === null ? (
          <button
            type="button"
            className="plain-button"
            disabled={claim.isPending}
            onClick={() => claim.mutate({ method: 'POST', path: '/core/v2/claim', body })}
          >
            Claim session
          </button>
        ) : (
          <button
            type="button"
            className="plain-button"
            disabled={release.isPending}
            onClick={() => release.mutate({ method: 'POST', path: '/core/v2/release', body })}
          >
            Give session back
          </button>
        )}
        <button type="button" className="danger" onClick={() => setAsked('kill')}>
          End its program
        </button>
        <button type="button" className="danger" onClick={() => setAsked('forget')}>
          Forget session
        </button>
      </p>
      {asked === 'forget' && (
        <Confirm
          title="Forget this session?"
          button="Forget session"
          isBusy={forget.isPending}
          onClose={() => setAsked(null)}
          onConfirm={() => forget.mutate({ method: 'DELETE', path: sessionPath(key) })}
        >
          <p>
            What was said in “{session.title ?? key}” is removed, and its next message begins anew. This cannot be taken back.
          </p>
        </Confirm>
      )}
      {asked === 'kill' && (
        <Confirm
          title="End its program?"
          button="End program"
          isBusy={kill.isPending}
          onClose={() => setAsked(null)}
          onConfirm={() => kill.mutate({ method: 'POST', path: '/collector/api/control/kill', body: { session_id: key } })}
        >
          <p>The program that works for “{session.title ?? key}” is ended at once. What it was doing is left as it is.</p>
        </Confirm>
      )}
    </Section>
  );
}
