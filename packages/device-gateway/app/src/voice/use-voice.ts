import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Conversation } from '@svc/chat-ui/state/conversation.ts';
import { isOver } from '@svc/chat-ui/state/turn.ts';
import type { Gateway } from '../gateway.ts';
import { createReader } from './reader.ts';
import { record, type Recording } from '@svc/chat-ui/voice/recorder.ts';
import { activityOf, isStopPhrase, type VoiceConfig, type VoiceTheme } from './voice-config.ts';

export type Hearing = 'idle' | 'hears' | 'understands';

type Options = {
  conversation: Conversation;
  gateway: Gateway;
  config: VoiceConfig;
  theme: VoiceTheme;
  onHeard(text: string): void;
  /** The person speaks, or says a word to stop, while a turn runs. */
  onStop(): void;
  onFault(words: string): void;
};

/** Speaking and listening in one conversation. */
export function useVoice({ conversation, gateway, config, theme, onHeard, onStop, onFault }: Options) {
  const [hearing, setHearing] = useState<Hearing>('idle');
  const [speaks, setSpeaks] = useState(false);
  const recording = useRef<Promise<Recording | null> | null>(null);
  const wasSpoken = useRef(false);
  const latest = useRef({ onHeard, onStop, onFault, config, theme });
  latest.current = { onHeard, onStop, onFault, config, theme };

  const reader = useMemo(
    () =>
      createReader({
        gateway,
        voice: config.voice ?? null,
        onSpeaking: setSpeaks,
        onFault: (words) => latest.current.onFault(words),
      }),
    [gateway, config.voice],
  );
  useEffect(() => () => reader.close(), [reader]);

  const finish = useCallback(async () => {
    const opened = recording.current;
    if (opened === null) return;
    recording.current = null;
    setHearing('understands');
    try {
      // Whoever was quicker than the microphone is waited for.
      const mine = await opened;
      if (mine === null) return;
      const audio = await mine.stop();
      if (audio.size === 0) return latest.current.onFault('Nothing was heard. Hold the button while you speak.');
      const { text } = await gateway.transcribe(audio);
      const said = text.trim();
      if (isStopPhrase(said, latest.current.theme)) latest.current.onStop();
      else if (said !== '') {
        wasSpoken.current = true;
        latest.current.onHeard(said);
      }
    } catch (error) {
      latest.current.onFault(error instanceof Error ? `Could not transcribe: ${error.message}` : 'Could not transcribe.');
    } finally {
      setHearing('idle');
    }
  }, [gateway]);

  /** Listens; `untilSilence` ends it when the person has finished, else `finish` does. Who begins to speak interrupts what is read aloud. */
  const listen = useCallback(
    async (untilSilence: boolean) => {
      if (recording.current !== null) return;
      reader.stop();
      // Who speaks wants to be heard: an answer that is still being made is not waited for.
      if (conversation.isRunning()) latest.current.onStop();
      setHearing('hears');
      const activity = untilSilence ? activityOf(latest.current.theme) : null;
      const opened: Promise<Recording | null> = record({ activity, onEnd: () => void finish() }).catch((error: unknown) => {
        const denied = error instanceof DOMException && error.name === 'NotAllowedError';
        latest.current.onFault(
          denied ? 'This page may not use the microphone. Allow it in the browser.' : 'No microphone was found.',
        );
        return null;
      });
      recording.current = opened;
      if ((await opened) !== null || recording.current !== opened) return;
      recording.current = null;
      setHearing('idle');
    },
    [conversation, finish, reader],
  );
  useEffect(() => () => void recording.current?.then((opened) => opened?.cancel()), []);

  // Replies of turns that began while the page is open are read as they come.
  useEffect(() => {
    const old = new Set(conversation.keys());
    return conversation.subscribe(() => {
      const key = conversation.keys().at(-1);
      const turn = key === undefined ? undefined : conversation.turn(key);
      if (turn === undefined) return;
      if (old.has(turn.key) && isOver(turn)) return;
      const isWanted = latest.current.config.read_aloud === true || wasSpoken.current;
      if (isWanted && turn.text !== '') reader.follow(turn.key, turn.text, isOver(turn));
      if (isOver(turn)) {
        old.add(turn.key);
        wasSpoken.current = false;
      }
    });
  }, [conversation, reader]);

  // Hands free: after the answer was heard, it is the person's turn again.
  const spoke = useRef(false);
  useEffect(() => {
    if (spoke.current && !speaks && latest.current.config.hands_free === true && !conversation.isRunning()) void listen(true);
    spoke.current = speaks;
  }, [speaks, conversation, listen]);

  return { hearing, speaks, listen, finish, say: reader.say, silence: reader.stop };
}
