import { Rich } from '@svc/chat-ui/language/rich.tsx';
import { t } from '@svc/chat-ui/language/t.ts';
import { createDrafts } from '@svc/chat-ui/outbox/drafts.ts';
import { Announcer } from '@svc/chat-ui/view/announcer.tsx';
import { Transcript } from '@svc/chat-ui/view/transcript.tsx';
import { useRunning } from '@svc/chat-ui/view/use-turn.ts';
import { useDraft } from '@svc/chat-ui/view/use-draft.ts';
import type { Session } from '@svc/contract/session.ts';
import { Send, Square } from 'lucide-react';
import { useId, useMemo } from 'react';
import { useLogin } from '../../shell/login.tsx';
import { toast } from '../toast.tsx';
import { type People, usePeople } from '../use-people.ts';
import { sendInto } from './send-into.ts';
import { useActions } from './use-actions.ts';
import { refreshUndelivered, useUndelivered } from './use-undelivered.ts';
import type { SessionWatch } from './watch-session.ts';
import { storageName } from './storage-name.ts';

type Props = { session: Session; watch: SessionWatch; sought: string };

const nothing = () => undefined;

/** A conversation of another channel: followed live, and steered. It shows where the reply goes before a person writes. */
export function SteerView({ session, watch, sought }: Props) {
  const { conversation, loadOlder } = watch;
  const { conversation_key: key } = session;
  const { user } = useLogin();
  const drafts = useMemo(() => createDrafts(storageName(user)), [user]);
  const [text, setText, putBack] = useDraft(drafts, key);
  const id = useId();
  const isRunning = useRunning(conversation);
  const { stop, answer } = useActions(key);
  const deliver = useUndelivered(conversation, key);
  const actions = useMemo(() => ({ answer, deliver, retry: nothing, edit: nothing }), [answer, deliver]);
  const place = placeOf(session, usePeople());

  const say = async (interrupt: boolean) => {
    const message = text.trim();
    setText('');
    try {
      const { delivered, deliverErr, reply, terminal } = await sendInto({ conversation_key: key, text: message, interrupt });
      if (terminal !== undefined)
        toast(
          delivered
            ? t('It is typed in its terminal.')
            : t('It has not been typed yet: {reason}', { reason: deliverErr ?? t('the reason is not known') }),
        );
      else if (delivered) toast(t('The reply has reached {place}.', { place }));
      else if (reply !== '')
        toast(
          t('The reply has not reached {place}: {reason}', {
            place,
            reason: deliverErr ?? t('this channel does not send unasked messages'),
          }),
          'fault',
        );
      if (!delivered) await refreshUndelivered();
    } catch (error) {
      putBack(message);
      toast(error instanceof Error ? error.message : String(error), 'fault');
    }
  };

  return (
    <>
      <Transcript
        conversation={conversation}
        assistant={t('Assistant')}
        actions={actions}
        loadOlder={loadOlder}
        empty={<p>{t('Nothing has been said here yet.')}</p>}
        sought={sought}
      />
      <Announcer conversation={conversation} />
      <form
        className="steer"
        aria-label={t('Steer this session')}
        onSubmit={(event) => {
          event.preventDefault();
          void say(false);
        }}
      >
        <label htmlFor={id}>
          <Rich text="Steer as operator; the reply goes to {place}" place={<b>{place}</b>} />
        </label>
        <textarea id={id} rows={2} value={text} onChange={({ target }) => setText(target.value)} />
        <p className="row-buttons">
          <button type="submit" className="primary" disabled={text.trim() === ''}>
            <Send aria-hidden size={16} /> {isRunning ? t('Say after this turn') : t('Say it')}
          </button>
          {isRunning && (
            <>
              <button type="button" className="plain-button" disabled={text.trim() === ''} onClick={() => void say(true)}>
                {t('Stop and say')}
              </button>
              <button type="button" className="danger" onClick={() => void stop()}>
                <Square aria-hidden size={16} /> {t('Stop the turn')}
              </button>
            </>
          )}
        </p>
      </form>
    </>
  );
}

/** "messenger · Anna Kern (12345)": with a name where it is one person's, not a room's. */
function placeOf({ surface, outbound_target: target, principal_id: person }: Session, people: People): string {
  const one = target === null ? undefined : people.writingAs(surface, target);
  const whom =
    one === undefined ? (target ?? (person === null ? null : people.nameOf(person))) : `${one.display_name} (${target})`;
  return [surface, whom].filter((part) => part !== null).join(' · ');
}
