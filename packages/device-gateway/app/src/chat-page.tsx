import type { LinkState } from '@svc/chat-ui/stream/live-stream.ts';
import { channelName } from '@svc/chat-ui/view/channel-name.ts';
import type { Session } from '@svc/contract/session.ts';
import { Menu, Settings } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { answerCalls } from './capabilities/answer-calls.ts';
import { Chat, type ChatHandle } from './chat.tsx';
import { type ChatSession, openChatSession } from './chat-session.ts';
import type { Device } from './device.ts';
import { createGateway, type Gateway } from './gateway.ts';
import { takeLaunch } from './launch.ts';
import { renewPush } from './push.ts';
import { SessionsPanel } from './sessions-panel.tsx';
import { SettingsDialog } from './settings-dialog.tsx';
import { useVoiceSettings } from './use-voice-settings.ts';

type Props = { device: Device; onSignedOut(): void; onRenamed(device: Device): void };

const linkWords: Record<LinkState, string> = {
  connecting: 'Connecting',
  live: 'Live',
  away: 'Not connected',
  refused: 'Signed out',
};

const launch = takeLaunch();

/** The app of a paired device: its conversations on the left, one of them in the middle. */
export function ChatPage({ device, onSignedOut, onRenamed }: Props) {
  const gateway = useMemo(() => createGateway(device.token), [device.token]);
  /** Null: the device's own. */
  const [shown, setShown] = useState<Session | null>(null);
  const key = shown?.conversation_key ?? null;
  const [link, setLink] = useState<LinkState>('connecting');
  const [isListOpen, setListOpen] = useState(launch.action === 'sessions');
  const [areSettingsOpen, setSettingsOpen] = useState(false);
  const voice = useVoiceSettings(gateway);
  const chat = useRef<ChatHandle>(null);
  const calls = useRef<ReturnType<typeof answerCalls> | null>(null);
  const session = useChatSession(device, gateway, key, setLink);

  useEffect(() => {
    calls.current = answerCalls({ device, gateway, onSpeak: (text) => chat.current?.say(text) });
    return () => calls.current?.close();
    // A new name of the device opens nothing again.
  }, [device.id, gateway]);

  useEffect(() => {
    // What is away now is there at another start.
    renewPush(gateway).catch(() => undefined);
  }, [gateway]);

  return (
    <div className="app">
      <SessionsPanel
        gateway={gateway}
        deviceId={device.id}
        current={key}
        isOpen={isListOpen}
        onClose={() => setListOpen(false)}
        onOpen={(chosen) => {
          setShown(chosen);
          setListOpen(false);
        }}
      />
      <main className="main">
        <header className="top">
          <button type="button" className="icon only-narrow" aria-label="Conversations" onClick={() => setListOpen(true)}>
            <Menu aria-hidden size={20} />
          </button>
          <h1>{shown === null ? device.assistant : (shown.title ?? channelName(shown.surface))}</h1>
          <span className="space" />
          <span className={`link ${link}`}>{linkWords[link]}</span>
          <button type="button" className="icon" aria-label="Settings" onClick={() => setSettingsOpen(true)}>
            <Settings aria-hidden size={20} />
          </button>
        </header>
        {session !== null && (
          <Chat
            key={key ?? 'own'}
            ref={chat}
            session={session}
            device={device}
            gateway={gateway}
            link={link}
            voice={voice}
            launch={launch}
            place={shown === null ? undefined : placeOf(shown)}
            onSignedOut={onSignedOut}
          />
        )}
      </main>
      {areSettingsOpen && (
        <SettingsDialog
          device={device}
          gateway={gateway}
          voice={voice.config}
          onVoice={voice.change}
          describe={async () => await calls.current?.describe()}
          onClose={() => setSettingsOpen(false)}
          onSignedOut={onSignedOut}
          onRenamed={onRenamed}
        />
      )}
    </div>
  );
}

/** Said before one writes there. */
const placeOf = ({ surface, title }: Session): string =>
  `You steer ${title === null ? 'a conversation' : `“${title}”`}. The reply goes to ${channelName(surface)}.`;

/** The session of a conversation; closed when another one is shown. */
function useChatSession(
  device: Device,
  gateway: Gateway,
  key: string | null,
  onLink: (state: LinkState) => void,
): ChatSession | null {
  const [session, setSession] = useState<ChatSession | null>(null);
  useEffect(() => {
    const opened = openChatSession({ device, gateway, conversationKey: key, onLink });
    setSession(opened);
    return () => {
      opened.close();
      setSession(null);
    };
    // A new name of the device opens nothing again.
  }, [device.id, gateway, key, onLink]);
  return session;
}
