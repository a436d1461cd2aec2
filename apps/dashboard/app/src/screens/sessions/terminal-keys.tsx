import type { ListedSession } from '@svc/contract/session.ts';
import { useState } from 'react';
import { Field } from '../../parts/field.tsx';
import { Empty, Loaded } from '../../parts/page.tsx';
import { useAct, useApi } from '../../parts/query.ts';

const keys = ['Enter', 'Escape', 'C-c'] as const;

/** Types into the terminal of a session that has one. */
export function TerminalKeys({ sessionId }: { sessionId: string }) {
  const query = useApi<{ sessions: ListedSession[] }>('/collector/api/sessions?limit=500');
  const [text, setText] = useState('');
  const act = useAct({ done: 'Typed.', onDone: () => setText('') });
  const type = (body: object) =>
    act.mutate({ method: 'POST', path: '/collector/api/control/send-keys', body: { session_id: sessionId, ...body } });
  return (
    <div className="view">
      <Loaded query={query}>
        {({ sessions }) => {
          const session = sessions.find(({ conversation_key: key }) => key === sessionId);
          if (session?.multiplexer == null)
            return (
              <Empty title="This session has no terminal">
                <p>
                  Open one where the service runs: <code>./svc terminal start</code>
                </p>
              </Empty>
            );
          return (
            <form
              className="stack"
              onSubmit={(event) => {
                event.preventDefault();
                type({ text, enter: true });
              }}
            >
              <p className="muted">
                Terminal {session.tmux_target} in <span className="path">{session.cwd}</span>
              </p>
              <Field label="Line to type" hint="It is typed with Enter behind it. Each time is in the audit, without the words.">
                {(props) => (
                  <input
                    {...props}
                    value={text}
                    autoComplete="off"
                    spellCheck={false}
                    onChange={({ target }) => setText(target.value)}
                  />
                )}
              </Field>
              <p className="row-buttons">
                <button type="submit" className="primary" disabled={text === '' || act.isPending}>
                  Type line
                </button>
                {keys.map((key) => (
                  <button
                    key={key}
                    type="button"
                    className="plain-button"
                    disabled={act.isPending}
                    onClick={() => type({ keys: key })}
                  >
                    Press {key}
                  </button>
                ))}
              </p>
            </form>
          );
        }}
      </Loaded>
    </div>
  );
}
