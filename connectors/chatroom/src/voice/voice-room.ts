import { randomUUID } from 'node:crypto';
import {
  askText,
  errorText,
  ServiceError,
  type Clock,
  type Envelope,
  type SpeechApi,
  type StartContext,
} from '@svc/connector-kit';
import type { OpenReply, TurnReply } from '@svc/connector-kit/ingress/lazy-reply.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import { createListeners, type Ear } from './listeners.ts';
import { heardFormat, toWav } from './sound.ts';
import type { SpeakPcm } from './speak-pcm.ts';
import { createSpeechLine, type Player, type SpokenTurn } from './speech-line.ts';
import { createSpokenReply } from './spoken-reply.ts';

/** A person in a voice channel. */
export type Speaker = { id: string; name: string };

/** A person's utterance, as a message of the text channel. */
export type SaidMessage = { speaker: Speaker; text: string; messageId: string };

export type VoiceRoomDeps = {
  speech: Pick<SpeechApi, 'transcribe'>;
  speak: SpeakPcm;
  player: Player;
  clock: Clock;
  log: StartContext['log'];
  /** Null for a program or a stranger, who is not heard. */
  speakerOf(user: string): Promise<Speaker | null>;
  /** Posts an utterance to the text channel; returns the id of the message. */
  caption(speaker: Speaker, text: string): Promise<string>;
  /** Posts a note of the assistant itself to the text channel. */
  note(text: string): void;
  /** Passes a message to the core in the order of the text channel. */
  take(updateId: string, prepare: (signal: AbortSignal) => Promise<Envelope | null>): Promise<void>;
  toEnvelope(message: SaidMessage): Promise<Envelope>;
  /** Ends the running turn on behalf of the person who interrupts it. */
  abort(as: Speaker): Promise<void>;
  language?: string;
};

/** Speech and listening in one voice channel. */
export type VoiceRoom = {
  /** Null for a person who is not heard. */
  listen(user: string): Promise<Ear | null>;
  /** Shows a reply, and speaks it when it answers an utterance. */
  openReply(openReply: OpenReply): OpenReply;
  /** By the clock's `elapsed`: when a person or the assistant last spoke. */
  readonly lastActive: number;
  close(): void;
};

/** Maximum number of utterances that are transcribed at once; further ones are ignored. */
const maxHearing = 8;
/** Maximum number of messages that wait for a spoken reply; past it, the replies to the oldest are only shown. */
const maxSpoken = 64;

export function createVoiceRoom(deps: VoiceRoomDeps): VoiceRoom {
  const { speech, speak, player, clock, log, take, caption, note } = deps;
  const closing = new AbortController();
  const speakers = new Map<string, Speaker>();
  /** Messages whose replies are spoken, by their id. */
  const spokenFor = new Map<string, Speaker>();
  let lastActive = clock.elapsed();
  let hearing = 0;
  let hasSaidFault = false;

  const active = () => (lastActive = clock.elapsed());
  const listeners = createListeners({
    after: clock.after,
    onBegin: (user) => {
      active();
      interruptBy(user);
    },
    onUtterance: (user, pcm) => {
      active();
      void hear(user, pcm);
    },
  });
  const line = createSpeechLine({ player, quiet: listeners.quiet });

  function interruptBy(user: string): void {
    const speaker = speakers.get(user);
    if (speaker === undefined || !line.isSpeaking) return;
    const cut = line.interrupt();
    log('debug', 'a person interrupted what was said', { user, turns: cut.length });
    if (cut.length === 0) return;
    deps.abort(speaker).catch((error: unknown) => {
      // It has ended meanwhile, or only the person who asked may end it. It is no longer spoken.
      log('debug', 'the interrupted turn was not ended', { error: errorText(error) });
    });
  }

  async function hear(user: string, pcm: Buffer): Promise<void> {
    const speaker = speakers.get(user);
    if (speaker === undefined || closing.signal.aborted) return;
    if (hearing >= maxHearing) {
      log('warn', 'too many people spoke at once; one utterance was dropped', { user });
      return;
    }
    hearing++;
    try {
      await take(
        `voice ${randomUUID()}`,
        onceDone((signal) => toMessage(speaker, toWav(pcm, heardFormat), signal)),
      );
    } catch (error) {
      log('warn', 'an utterance could not be sent to the core', { user, error: errorText(error) });
    } finally {
      hearing--;
    }
  }

  async function toMessage(speaker: Speaker, wav: Buffer, stopped: AbortSignal): Promise<Envelope | null> {
    const signal = AbortSignal.any([stopped, closing.signal]);
    const clip = { sender: speaker.id, data: wav, mime: 'audio/wav', language: deps.language };
    const heard = await speech.transcribe(clip, signal).catch((error: unknown) => faultOf('heard', error));
    const text = heard?.text.trim() ?? '';
    if (text === '' || closing.signal.aborted) return null;
    const messageId = await caption(speaker, text).catch((error: unknown) => {
      log('warn', 'the transcript of an utterance could not be posted', { user: speaker.id, error: errorText(error) });
      return `voice:${randomUUID()}`;
    });
    remember(messageId, speaker);
    return deps.toEnvelope({ speaker, text, messageId });
  }

  /** Reported once in the text channel: otherwise nobody would know why the assistant is silent. */
  function faultOf(what: 'heard' | 'spoken', error: unknown): null {
    if (closing.signal.aborted) return null;
    log('warn', `speech fails: nothing is ${what}`, { error: errorText(error) });
    if (!hasSaidFault) note(`What is said cannot be ${what}: ${error instanceof ServiceError ? error.message : 'see the log.'}`);
    hasSaidFault = true;
    return null;
  }

  function remember(messageId: string, speaker: Speaker): void {
    spokenFor.set(messageId, speaker);
    forgetOldest(spokenFor, maxSpoken);
  }

  /** The speech of a reply; null for a reply that is only shown. */
  function begin({ message_id: id = '' }: Envelope): SpokenTurn | null {
    const speaker = spokenFor.get(id);
    if (speaker === undefined || !spokenFor.delete(id) || closing.signal.aborted) return null;
    const reply = createSpokenReply({
      speak: (text, signal) => speak(text, speaker.id, signal),
      onFault: (error) => faultOf('spoken', error),
    });
    const turn: SpokenTurn = { reply, speaker: speaker.id, hasEnded: false };
    return line.say(turn) ? turn : null;
  }

  return {
    async listen(user) {
      const speaker = await deps.speakerOf(user);
      if (speaker === null || closing.signal.aborted) {
        speakers.delete(user);
        return null;
      }
      speakers.set(user, speaker);
      return listeners.listen(user);
    },
    openReply: (openReply) => (envelope, turn) => {
      const shown = openReply(envelope, turn);
      const spoken = turn.again ? null : begin(envelope);
      return spoken === null ? shown : bothOf(shown, spoken, active);
    },
    get lastActive() {
      return lastActive;
    },
    close() {
      closing.abort();
      listeners.close();
      line.close();
      speakers.clear();
      spokenFor.clear();
    },
  };
}

/** Prepares a message only once, however often it is requested, so that it is transcribed and captioned once. */
function onceDone(prepare: (signal: AbortSignal) => Promise<Envelope | null>) {
  let done: Promise<Envelope | null> | null = null;
  return (signal: AbortSignal): Promise<Envelope | null> => {
    done ??= prepare(signal).catch((error: unknown) => {
      done = null;
      throw error;
    });
    return done;
  };
}

/** Shows and speaks the reply at the same time. Its delivery does not wait for the speech. */
function bothOf(shown: TurnReply, turn: SpokenTurn, active: () => void): TurnReply {
  const { handlers } = shown;
  const { reply } = turn;
  const ended = () => {
    turn.hasEnded = true;
    active();
  };
  return {
    handlers: {
      ...handlers,
      onDelta(text) {
        reply.add(text);
        handlers.onDelta?.(text);
      },
      onSegment(block) {
        reply.add('\n');
        handlers.onSegment?.(block);
      },
      onAsk(ask) {
        reply.add(`\n${askText(ask)}\n`);
        handlers.onAsk?.(ask);
      },
      onRetract() {
        reply.retract();
        handlers.onRetract?.();
      },
    },
    finish(result) {
      ended();
      const text = result.actions.flatMap((action) => (action.type === 'reply' ? [action.text] : [])).join('\n');
      reply.end(text);
      return shown.finish(result);
    },
    fail(error) {
      ended();
      reply.end();
      return shown.fail(error);
    },
  };
}
