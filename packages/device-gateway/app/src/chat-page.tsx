import { Announcer } from '@svc/chat-ui/view/announcer.tsx';
import { Composer } from '@svc/chat-ui/view/composer.tsx';
import { Transcript } from '@svc/chat-ui/view/transcript.tsx';
import { useRunning } from '@svc/chat-ui/view/use-turn.ts';
import type { LinkState } from '@svc/chat-ui/stream/live-stream.ts';
import { Menu, Settings } from 'lucide-react';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { type ChatSession, openChatSession } from './chat-session.ts';
import type { Device } from './device.ts';
import { createGateway, type Gateway } from './gateway.ts';
import { takeLaunch } from './launch.ts';
import { SessionsPanel } from './sessions-panel.tsx';
import { SettingsDialog } from './settings-dialog.tsx';
import { useComposerText } from './use-composer-text.ts';

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
  const [key, setKey] = useState<string | null>(null);
  const [title, setTitle] = useState<string | null>(null);
  const [link, setLink] = useState<LinkState>('connecting');
  const [isListOpen, setListOpen] = useState(launch.action === 'sessions');
  const [areSettingsOpen, setSettingsOpen] = useState(false);
  const session = useChatSession(device, gateway, key, setLink);

  return (
    <div className="app">
      <SessionsPanel
        gateway={gateway}
        current={key}
        isOpen={isListOpen}
        onClose={() => setListOpen(false)}
        onOpen={(chosen, name) => {
          setKey(chosen);
          setTitle(name);
          setListOpen(false);
        }}
      />
      <main className="main">
        <header className="top">
          <button type="button" className="icon only-narrow" aria-label="Conversations" onClick={() => setListOpen(true)}>
            <Menu aria-hidden size={20} />
          </button>
          <h1>{title ?? device.assistant}</h1>
          <span className="space" />
          <span className={`link ${link}`}>{linkWords[link]}</span>
          <button type="button" className="icon" aria-label="Settings" onClick={() => setSettingsOpen(true)}>
            <Settings aria-hidden size={20} />
          </button>
        </header>
        {session !== null && <Chat key={key ?? 'own'} session={session} device={device} link={link} onSignedOut={onSignedOut} />}
      </main>
      {areSettingsOpen && (
        <SettingsDialog
          device={device}
          gateway={gateway}
          onClose={() => setSettingsOpen(false)}
          onSignedOut={onSignedOut}
          onRenamed={onRenamed}
        />
      )}
    </div>
  );
}

/** The session of a conversation; closed when another one is shown. */
function useChatSession(
  device: Device,
  gateway: Gateway,
  key: string | null,
  onLink: (state: LinkState) => void,
): ChatSession | null {
  const [session, setSession] = useState<ChatSession | null>(null);
  useEffect(() => {
    const opened = openChatSession({ device, gateway, conversationKey: key, onLink, onFrame: () => undefined });
    setSession(opened);
    return () => {
      opened.close();
      setSession(null);
    };
    // A new name of the device opens nothing anew.
  }, [device.id, gateway, key, onLink]);
  return session;
}

type ChatProps = { session: ChatSession; device: Device; link: LinkState; onSignedOut(): void };

function Chat({ session, device, link, onSignedOut }: ChatProps) {
  const { conversation } = session;
  const input = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useComposerText(session, launch.text);
  const [files, setFiles] = useState<readonly File[]>([]);
  const [fault, setFault] = useState<string | null>(null);
  const isRunning = useRunning(conversation);
  const hasKeyboard = useMemo(() => matchMedia('(pointer: fine)').matches, []);

  const send = () => {
    const said = text.trim();
    setText('');
    setFiles([]);
    setFault(null);
    // The database of the browser is full or forbidden: what was written comes back.
    session.send(said, files, false).catch(() => {
      setText(said);
      setFiles(files);
      setFault('This browser cannot store the message. Free some space, or leave private browsing.');
    });
    input.current?.focus();
  };
  const stop = () => {
    session.stop().catch(() => setFault('The stop did not arrive. Check your connection, then try again.'));
  };
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      if (event.key !== '.' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      stop();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });

  const edit = useCallback(
    async (key: string) => {
      const taken = await session.takeBack(key);
      if (taken !== null) setText(taken);
      input.current?.focus();
    },
    [session, setText],
  );
  const actions = useMemo(
    () => ({ answer: session.answer, retry: session.retry, edit: (key: string) => void edit(key) }),
    [session, edit],
  );

  return (
    <>
      <Transcript
        conversation={conversation}
        assistant={device.assistant}
        actions={actions}
        loadOlder={session.loadOlder}
        empty={
          <>
            <h2>What can I do for you?</h2>
            <p>Write a message. It is kept on this device until the assistant has it.</p>
          </>
        }
      />
      <Announcer conversation={conversation} />
      {fault !== null && (
        <p className="fault note" role="alert">
          {fault}
        </p>
      )}
      {link === 'refused' && (
        <div className="fault note" role="alert">
          This device was signed out. Your unsent messages stay here.
          <button type="button" className="plain-button" onClick={onSignedOut}>
            Pair again
          </button>
        </div>
      )}
      <Composer
        text={text}
        files={files}
        isRunning={isRunning}
        placeholder={`Message ${device.assistant}`}
        enterSends={hasKeyboard}
        input={input}
        onText={setText}
        onFiles={setFiles}
        onSend={send}
        onStop={stop}
      />
    </>
  );
}
