import type { LinkState } from '@svc/chat-ui/stream/live-stream.ts';
import { Announcer } from '@svc/chat-ui/view/announcer.tsx';
import { Composer } from '@svc/chat-ui/view/composer.tsx';
import { Transcript } from '@svc/chat-ui/view/transcript.tsx';
import { useDraft } from '@svc/chat-ui/view/use-draft.ts';
import { useRunning } from '@svc/chat-ui/view/use-turn.ts';
import { type Ref, useCallback, useEffect, useImperativeHandle, useMemo, useRef, useState } from 'react';
import type { ChatSession } from './chat-session.ts';
import type { Device } from './device.ts';
import type { Gateway } from './gateway.ts';
import type { Launch } from './launch.ts';
import type { useVoiceSettings } from './use-voice-settings.ts';
import { MicButton } from './voice/mic-button.tsx';
import { useVoice } from './voice/use-voice.ts';

export type ChatHandle = { say(text: string): void };

type Props = {
  ref: Ref<ChatHandle>;
  session: ChatSession;
  device: Device;
  gateway: Gateway;
  link: LinkState;
  voice: Pick<ReturnType<typeof useVoiceSettings>, 'config' | 'theme'>;
  launch: Launch;
  /** Where the words go, when it is not this device's own conversation. */
  place: string | undefined;
  onSignedOut(): void;
};

/** One conversation: what was said, and where the next message is written or spoken. */
export function Chat({ ref, session, device, gateway, link, voice: { config, theme }, launch, place, onSignedOut }: Props) {
  const { conversation } = session;
  const input = useRef<HTMLTextAreaElement>(null);
  const [text, setText, putBack] = useDraft(session.drafts, session.draftName, { shared: launch.text });
  const [files, setFiles] = useState<readonly File[]>([]);
  const [fault, setFault] = useState<string | null>(null);
  const isRunning = useRunning(conversation);
  const stop = () => {
    session.stop().catch(() => setFault('The answer could not be stopped. Check your connection, then try again.'));
  };
  const voice = useVoice({
    conversation,
    gateway,
    config,
    theme,
    onFault: setFault,
    onStop: stop,
    onHeard: (heard) => void session.send(heard, [], { speak: true }).catch(() => putBack(heard)),
  });
  const { say, silence } = voice;
  useImperativeHandle(ref, () => ({ say }), [say]);
  useEffect(() => {
    if (launch.action === 'speak') void voice.listen(true);
    if (launch.action === 'write') input.current?.focus();
    // Once: what was shared belongs to the conversation that was opened with it.
    launch.action = null;
    launch.text = '';
  });
  const hasKeyboard = useMemo(() => matchMedia('(pointer: fine)').matches, []);

  const send = (interrupt = false) => {
    const said = text.trim();
    setText('');
    setFiles([]);
    setFault(null);
    // The database of the browser is full or forbidden: what was written comes back.
    session.send(said, files, { interrupt }).catch(() => {
      putBack(said);
      setFiles((since) => [...files, ...since]);
      setFault('This browser cannot store the message. Free some space, or leave private browsing.');
    });
    input.current?.focus();
  };
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      if (event.key !== '.' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      silence();
      stop();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });

  const edit = useCallback(
    async (key: string) => {
      const taken = await session.takeBack(key);
      if (taken !== null) {
        putBack(taken.text);
        setFiles((since) => [...taken.files, ...since]);
      }
      input.current?.focus();
    },
    [session, putBack],
  );
  const actions = useMemo(
    () => ({
      answer: session.answer,
      retry: (key: string) => void session.retry(key),
      edit: (key: string) => void edit(key),
      load: ({ path }: { path: string }) => gateway.file(path, session.conversationKey),
      speak: say,
    }),
    [session, gateway, edit, say],
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
            <p>Write a message. It stays on this device until the assistant has received it.</p>
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
        placeholder={place === undefined ? `Message ${device.assistant}` : 'Steer this conversation'}
        enterSends={hasKeyboard}
        input={input}
        onText={setText}
        onFiles={setFiles}
        onSend={() => send()}
        onInterrupt={() => send(true)}
        place={place}
        onStop={() => {
          silence();
          stop();
        }}
      >
        <MicButton {...voice} />
      </Composer>
    </>
  );
}
