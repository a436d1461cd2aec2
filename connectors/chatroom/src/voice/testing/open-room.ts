import type { Envelope } from '@svc/connector-kit';
import type { OpenReply, TurnReply } from '@svc/connector-kit/ingress/lazy-reply.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createVoiceRoom, type VoiceRoomDeps } from '../voice-room.ts';
import { voice } from './sounds.ts';

export const settled = async (turns = 5): Promise<void> => {
  for (let n = 0; n < turns; n++) await new Promise((resolve) => setImmediate(resolve));
};

/** A room with people, a platform that plays on command, and a core that the test controls. */
export function openRoom(more: Partial<VoiceRoomDeps> = {}) {
  const clock = createFakeClock();
  const captions: string[] = [];
  const notes: string[] = [];
  const played: string[] = [];
  const aborted: string[] = [];
  const logs: string[] = [];
  const envelopes: Envelope[] = [];
  let stopped = 0;
  let finish = Promise.withResolvers<void>();
  const room = createVoiceRoom({
    clock,
    log: (_level, message) => void logs.push(message),
    speech: {
      transcribe: async ({ sender, data, mime }) => {
        if (mime !== 'audio/wav' || data.toString('latin1', 0, 4) !== 'RIFF') throw new Error('no wave file');
        return { ok: true, text: ` what ${sender} said `, language: null, seconds: 1, provider: 'fake', model: 'm' };
      },
    },
    speak: async function* (text, sender) {
      yield Buffer.from(`${sender}: ${text}`);
    },
    player: {
      play(sound) {
        const done = Promise.withResolvers<void>();
        void (async () => {
          for await (const part of sound) {
            played.push(part.toString());
            await Promise.race([finish.promise, done.promise]);
          }
          done.resolve();
        })();
        return {
          done: done.promise,
          stop() {
            stopped++;
            done.resolve();
          },
        };
      },
    },
    speakerOf: async (id) => (id.startsWith('stranger') ? null : { id, name: id.toUpperCase() }),
    caption: async ({ name }, text) => String(captions.push(`${name}: ${text}`)),
    note: (text) => void notes.push(text),
    async take(_id, prepare) {
      const { signal } = new AbortController();
      const envelope = await prepare(signal);
      if (envelope !== null) envelopes.push(envelope);
    },
    toEnvelope: async ({ speaker, text, messageId }) => ({
      channel: 'chatroom',
      conversation_key: 'chatroom:inst_1:channel:text',
      message_id: messageId,
      sender: { raw_id: speaker.id },
      content: { text },
    }),
    abort: async ({ id }) => void aborted.push(id),
    ...more,
  });
  const say = async (user: string) => {
    const ear = await room.listen(user);
    ear?.push(Buffer.concat(voice(20)));
    ear?.end();
    await settled();
  };
  const release = async () => {
    finish.resolve();
    finish = Promise.withResolvers();
    await settled();
  };
  return { room, clock, captions, notes, played, aborted, logs, envelopes, say, release, stops: () => stopped };
}

/** The contents of the text channel. */
export function shown() {
  const text: string[] = [];
  const openReply: OpenReply = () =>
    ({
      handlers: { onDelta: (more) => void text.push(more), onRetract: () => void text.splice(0) },
      finish: async (result) => void text.push(`end ${result.outcome}`),
      fail: async (error) => void text.push(error.message),
    }) satisfies TurnReply;
  return { openReply, text };
}
