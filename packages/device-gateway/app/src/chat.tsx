import type { LinkState } from '@svc/chat-ui/stream/live-stream.ts';
import { Announcer } from '@svc/chat-ui/view/announcer.tsx';
import { Composer } from '@svc/chat-ui/view/composer.tsx';
import { Transcript } from '@svc/chat-ui/view/transcript.tsx';
import { useRunning } from '@svc/chat-ui/view/use-turn.ts';
import { type Ref, useCallback, useEffect, useImperativeHandle, useMemo, useRef, useState } from 'react';
import type { ChatSession } from './chat-session.ts';
import type { Device } from './device.ts';
import type { Gateway } from './gateway.ts';
import type { Launch } from './launch.ts';
import { useMessage } from './use-message.ts';
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
  /** Where messages go when this is not the device's own conversation. */
  place: string | undefined;
  onSignedOut(): void;
};

/** One conversation: its messages, and the input for the next one, typed or spoken. */
export function Chat({ ref, session, device, gateway, link, voice: { config, theme }, launch, place, onSignedOut }: Props) {
  const { conversation } = session;
  const input = useRef<HTMLTextAreaElement>(null);
  const focus = useCallback(() => input.current?.focus(), []);
  const [fault, setFault] = useState<string | null>(null);
  const message = useMessage(session, { shared: launch.text, focus, onFault: setFault });
  const isRunning = useRunning(conversation);
  const hasKeyboard = useMemo(() => matchMedia('(pointer: fine)').matches, []);
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
    onHeard: (heard) => void session.send(heard, [], { speak: true }).catch(() => message.putBack(heard)),
  });
  const { say, silence } = voice;
  const stopAll = () => {
    silence();
    stop();
  };
  useImperativeHandle(ref, () => ({ say }), [say]);
  useEffect(() => {
    if (launch.action === 'speak') void voice.listen(true);
    if (launch.action === 'write') focus();
    // Only once: what was shared belongs to the conversation that was opened with it.
    launch.action = null;
    launch.text = '';
  });
  useStopKey(stopAll);
  const { edit } = message;
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
        empty={<Welcome />}
      />
      <Announcer conversation={conversation} />
      {fault !== null && (
        <p className="fault note" role="alert">
          {fault}
        </p>
      )}
      {link === 'refused' && <SignedOut onSignedOut={onSignedOut} />}
      <Composer
        text={message.text}
        files={message.files}
        isRunning={isRunning}
        placeholder={place === undefined ? `Message ${device.assistant}` : 'Steer this conversation'}
        enterSends={hasKeyboard}
        input={input}
        onText={message.setText}
        onFiles={message.setFiles}
        onSend={() => message.send()}
        onInterrupt={() => message.send(true)}
        place={place}
        onStop={stopAll}
      >
        <MicButton {...voice} />
      </Composer>
    </>
  );
}

/** Ctrl or ⌘ with a full stop. */
function useStopKey(stop: () => void): void {
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      if (event.key !== '.' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      stop();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
}

const Welcome = () => (
  <>
    <h2>What can I do for you?</h2>
    <p>Write a message. It stays on this device until the assistant has received it.</p>
  </>
);

const SignedOut = ({ onSignedOut }: Pick<Props, 'onSignedOut'>) => (
  <div className="fault note" role="alert">
    This device was signed out. Your unsent messages stay here.
    <button type="button" className="plain-button" onClick={onSignedOut}>
      Pair again
    </button>
  </div>
);
