import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { startCrablineDiscord } from '@svc/testing/crabline/start-crabline-discord.ts';
import { startSpeechServer } from '@svc/testing/speech-server/start-speech-server.ts';
import { expect, onTestFinished, test } from 'vitest';

const child = path.join(import.meta.dirname, 'fixtures/voice-child.ts');

/** Has people talk in a process that trusts the voice server's certificate. */
async function talk() {
  const [peer, speech] = await Promise.all([startCrablineDiscord(), startSpeechServer()]);
  onTestFinished(async () => {
    await Promise.all([peer.close(), speech.close()]);
  });
  const own = { NODE_EXTRA_CA_CERTS: peer.caFile, MANIFEST: JSON.stringify(peer.manifest), SPEECH_URL: speech.url };
  const options = { env: { ...process.env, ...own }, timeout: 110_000 };
  const { stdout } = await promisify(execFile)(process.execPath, [child], options);
  return { said: JSON.parse(stdout.trim().split('\n').at(-1) ?? ''), speech };
}

test('people talk with the assistant in a voice channel and may interrupt it', { timeout: 120_000 }, async () => {
  const { said, speech } = await talk();
  expect(said.answer).toEqual({
    spoken: 'it is noon is it rain no',
    shown: ['It is noon. Is it rain? No.'],
    posts: ['🎙 **ann:** what time is it'],
  });
  const captions = ['ann:** what time is it', 'ann:** stop it', 'ben:** yes six', 'ann:** is it noon'];
  expect(said.posts).toEqual(captions.map((each) => `🎙 **${each}`));
  expect(said.resumed).toBe('yes');
  expect(said.interrupted).toMatchObject({ aborted: ['ben'], shown: ['It is noon. Is it rain? No.', 'aborted', 'Yes.', 'Yes.'] });
  // Cut off in the first of twenty sentences; then the reply to the person who interrupted.
  expect(said.interrupted.spoken).toMatch(/^one two three( four)?( five)?( six)?( one)?( two)? yes$/);
  expect(speech.requests.filter(({ path: route }) => route.endsWith('transcriptions'))).toHaveLength(4);
  expect(said.movedTo).toEqual(['other-channel']);
  expect([said.left, said.joinedAgain]).toEqual([true, [expect.objectContaining({ text: 'text-channel' })]]);
  expect(said.memory.joined - said.memory.before).toBeLessThan(60);
});
