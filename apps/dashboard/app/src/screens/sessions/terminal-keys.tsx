import { Rich } from '@svc/chat-ui/language/rich.tsx';
import { t } from '@svc/chat-ui/language/t.ts';
import type { ListedSession } from '@svc/contract/session.ts';
import { useState } from 'react';
import { Field } from '../../parts/field.tsx';
import { Empty, Loaded } from '../../parts/page.tsx';
import { useAct, useApi } from '../../parts/query.ts';

const keys = ['Enter', 'Escape', 'C-c'] as const;
const openCommand = './svc terminal start';

/** Types into the terminal of a session that has one. */
export function TerminalKeys({ sessionId }: { sessionId: string }) {
  const query = useApi<{ sessions: ListedSession[] }>('/collector/api/sessions?limit=500');
  const [text, setText] = useState('');
  const act = useAct({ done: t('Typed.'), onDone: () => setText('') });
  const type = (body: object) =>
    act.mutate({ method: 'POST', path: '/collector/api/control/send-keys', body: { session_id: sessionId, ...body } });
  return (
    <div className="view">
      <Loaded query={query}>
        {({ sessions }) => {
          const session = sessions.find(({ conversation_key: key }) => key === sessionId);
          if (session?.multiplexer == null)
            return (
              <Empty title={t('This session has no terminal')}>
                <p>
                  <Rich text="Open one where the service runs: {command}" command={<code>{openCommand}</code>} />
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
                <Rich
                  text="Terminal {name} in {folder}"
                  name={session.tmux_target ?? ''}
                  folder={<span className="path">{session.cwd}</span>}
                />
              </p>
              <Field
                label={t('Line to type')}
                hint={t('It is typed and followed by Enter. Each use is in the audit, without the text.')}
              >
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
                  {t('Type line')}
                </button>
                {keys.map((key) => (
                  <button
                    key={key}
                    type="button"
                    className="plain-button"
                    disabled={act.isPending}
                    onClick={() => type({ keys: key })}
                  >
                    {t('Press {key}', { key })}
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
