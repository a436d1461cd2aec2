import { describe, expect, test } from 'vitest';
import { ServiceError, type Envelope, type HandleResult } from '@svc/connector-kit';
import { openRoom, settled, shown } from './testing/open-room.ts';
import { voice } from './testing/sounds.ts';

const resultOf = (text: string): HandleResult =>
  ({ turn_id: 'turn_1', outcome: 'replied', actions: [{ type: 'reply', text }] }) as unknown as HandleResult;
const turn = { turnId: 'turn_1', again: false };

test('captions and asks what a person says, and shows and speaks the reply', async () => {
  const { room, captions, envelopes, played, say } = openRoom();
  await say('ann');
  expect(captions).toEqual(['ANN: what ann said']);
  expect(envelopes).toMatchObject([{ message_id: '1', sender: { raw_id: 'ann' }, content: { text: 'what ann said' } }]);
  const { openReply, text } = shown();
  const reply = room.openReply(openReply)(envelopes[0] as Envelope, turn);
  reply.handlers.onDelta?.('It is noon. It ');
  await settled();
  expect(played).toEqual(['ann: It is noon.']);
  reply.handlers.onDelta?.('rains.');
  await reply.finish(resultOf('It is noon. It rains.'));
  expect(text).toEqual(['It is noon. It ', 'rains.', 'end replied']);
});

test('does not speak replies to written messages or of an earlier process', async () => {
  const { room, envelopes, played, say } = openRoom();
  await say('ann');
  const { openReply } = shown();
  const heard = envelopes[0] as Envelope;
  await room
    .openReply(openReply)({ ...heard, message_id: 'written' }, turn)
    .finish(resultOf('Read me.'));
  await room
    .openReply(openReply)(heard, { ...turn, again: true })
    .finish(resultOf('Again.'));
  await settled();
  expect(played).toEqual([]);
});

describe('interruption by a person', () => {
  test('ends the speech and the turn at once', async () => {
    const { room, envelopes, played, aborted, say, release, stops } = openRoom();
    await say('ann');
    const reply = room.openReply(shown().openReply)(envelopes[0] as Envelope, turn);
    reply.handlers.onDelta?.('One. Two. Three. ');
    await settled();
    const ear = await room.listen('ben');
    for (const frame of voice(7)) ear?.push(frame);
    expect([stops(), aborted]).toEqual([0, []]);
    ear?.push(voice(1)[0] as Buffer);
    expect([stops(), aborted]).toEqual([1, ['ben']]);
    reply.handlers.onDelta?.('Four. ');
    await release();
    expect(played).toEqual(['ann: One.']);
  });

  test('ends only the speech if the turn has ended', async () => {
    const { room, envelopes, aborted, say, stops } = openRoom();
    await say('ann');
    await room
      .openReply(shown().openReply)(envelopes[0] as Envelope, turn)
      .finish(resultOf('One. Two.'));
    await settled();
    await say('ben');
    expect([stops(), aborted]).toEqual([1, []]);
  });

  test('ends only the speech if the person may not end the turn', async () => {
    const { room, envelopes, logs, say, stops } = openRoom({
      abort: async () => Promise.reject(new ServiceError('forbidden', 'This is the conversation of another person.')),
    });
    await say('ann');
    room
      .openReply(shown().openReply)(envelopes[0] as Envelope, turn)
      .handlers.onDelta?.('One. Two. ');
    await settled();
    await say('ben');
    expect(stops()).toBe(1);
    expect(logs).toContain('the interrupted turn was not ended');
  });

  test('is the next turn, whose reply is spoken', async () => {
    const { room, envelopes, played, say, release } = openRoom();
    await say('ann');
    room
      .openReply(shown().openReply)(envelopes[0] as Envelope, turn)
      .handlers.onDelta?.('One. Two. ');
    await settled();
    await say('ben');
    await release();
    await room
      .openReply(shown().openReply)(envelopes[1] as Envelope, turn)
      .finish(resultOf('For Ben.'));
    await settled();
    expect(played).toEqual(['ann: One.', 'ben: For Ben.']);
  });
});

test('does not transcribe strangers and bots, who cannot interrupt either', async () => {
  const { room, envelopes, captions, say, stops } = openRoom();
  await say('ann');
  room
    .openReply(shown().openReply)(envelopes[0] as Envelope, turn)
    .handlers.onDelta?.('One. Two. ');
  await settled();
  await say('stranger');
  expect(await room.listen('stranger')).toBeNull();
  expect([captions.length, stops()]).toEqual([1, 0]);
});

test('ignores an utterance without words', async () => {
  const { captions, envelopes, say } = openRoom({
    speech: { transcribe: async () => ({ ok: true, text: ' ', language: null, seconds: 1, provider: 'fake', model: 'm' }) },
  });
  await say('ann');
  expect([captions, envelopes]).toEqual([[], []]);
});

test('reports once in the text channel that speech is not set up', async () => {
  const { notes, envelopes, say } = openRoom({
    speech: { transcribe: async () => Promise.reject(new ServiceError('unavailable', 'Nobody listens: set SVC_STT_PROVIDER.')) },
  });
  await say('ann');
  await say('ben');
  expect(notes).toEqual(['What is said cannot be heard: Nobody listens: set SVC_STT_PROVIDER.']);
  expect(envelopes).toEqual([]);
});

test('answers even if the caption cannot be posted', async () => {
  const { room, envelopes, played, say } = openRoom({ caption: async () => Promise.reject(new Error('no channel')) });
  await say('ann');
  await room
    .openReply(shown().openReply)(envelopes[0] as Envelope, turn)
    .finish(resultOf('Yes.'));
  await settled();
  expect(played).toEqual(['ann: Yes.']);
});

test('transcribes and captions a message once, even if it is prepared again', async () => {
  const asked: string[] = [];
  const { captions, say } = openRoom({
    async take(id, prepare) {
      const { signal } = new AbortController();
      asked.push((await prepare(signal))?.message_id ?? '', (await prepare(signal))?.message_id ?? '', id.slice(0, 6));
    },
  });
  await say('ann');
  expect([captions, asked]).toEqual([['ANN: what ann said'], ['1', '1', 'voice ']]);
});

test('drops utterances when more than eight wait', async () => {
  const waiting = Promise.withResolvers<void>();
  let taken = 0;
  const { logs, say } = openRoom({
    take: async () => {
      taken++;
      await waiting.promise;
    },
  });
  for (let n = 0; n < 10; n++) await say(`ann${n % 3}`);
  expect(taken).toBe(8);
  expect(logs.filter((line) => line.includes('was dropped'))).toHaveLength(2);
  waiting.resolve();
});

test('a closed room neither listens nor speaks', async () => {
  const { room, envelopes, played, captions, say, stops } = openRoom();
  await say('ann');
  const reply = room.openReply(shown().openReply)(envelopes[0] as Envelope, turn);
  reply.handlers.onDelta?.('One. Two. ');
  await settled();
  room.close();
  reply.handlers.onDelta?.('Three. ');
  await say('ben');
  expect(await room.listen('ann')).toBeNull();
  expect([stops(), played.length, captions.length]).toEqual([1, 1, 1]);
});
