import type { Session } from '@svc/contract/session.ts';
import { channelName } from '@svc/chat-ui/view/channel-name.ts';
import { RefreshCw, X } from 'lucide-react';
import { useCallback, useEffect, useState } from 'react';
import type { Gateway } from './gateway.ts';

type Props = {
  gateway: Gateway;
  /** Its own conversation stands first, under its own name. */
  deviceId: string;
  current: string | null;
  isOpen: boolean;
  onClose(): void;
  /** Null: the device's own. */
  onOpen(chosen: Session | null): void;
};

const when = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
const stateWords: Record<Session['state'], string> = {
  idle: '',
  queued: 'waiting, ',
  running: 'working, ',
  claimed: 'claimed, ',
};

/** The conversations that this device may read. */
export function SessionsPanel({ gateway, deviceId, current, isOpen, onClose, onOpen }: Props) {
  const [sessions, setSessions] = useState<readonly Session[]>([]);
  const [next, setNext] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);

  const read = useCallback(
    async (before: string | null) => {
      try {
        const page = await gateway.sessions(before);
        setSessions((known) => (before === null ? page.sessions : [...known, ...page.sessions]));
        setNext(page.next);
        setFault(null);
      } catch {
        setFault('The conversations could not be loaded.');
      }
    },
    [gateway],
  );
  useEffect(() => {
    void read(null);
    const again = () => document.visibilityState === 'visible' && void read(null);
    document.addEventListener('visibilitychange', again);
    return () => document.removeEventListener('visibilitychange', again);
  }, [read, isOpen]);

  const others = sessions.filter(({ conversation_key }) => !conversation_key.endsWith(`:device:${deviceId}`));
  return (
    <nav
      className={isOpen ? 'side open' : 'side'}
      aria-label="Conversations"
      onKeyDown={({ key }) => key === 'Escape' && onClose()}
    >
      <div className="side-head">
        <h2>Conversations</h2>
        <button type="button" className="icon" aria-label="Reload conversations" onClick={() => void read(null)}>
          <RefreshCw aria-hidden size={16} />
        </button>
        <button type="button" className="icon only-narrow" aria-label="Close conversations" onClick={onClose}>
          <X aria-hidden size={20} />
        </button>
      </div>
      {fault !== null && <p className="fault note">{fault}</p>}
      <ul className="sessions">
        <li>
          <button type="button" aria-current={current === null ? 'page' : undefined} onClick={() => onOpen(null)}>
            <span className="title">This device</span>
            <span className="muted">Your conversation here</span>
          </button>
        </li>
        {others.map((session) => (
          <li key={session.conversation_key}>
            <button
              type="button"
              aria-current={current === session.conversation_key ? 'page' : undefined}
              onClick={() => onOpen(session)}
            >
              <span className="title">{session.title ?? session.conversation_key}</span>
              <span className="muted">
                {channelName(session.surface)}, {stateWords[session.state]}
                {when.format(session.last_active_at)}
              </span>
            </button>
          </li>
        ))}
        {next !== null && (
          <li>
            <button type="button" onClick={() => void read(next)}>
              Show older
            </button>
          </li>
        )}
      </ul>
    </nav>
  );
}
