import OpenAI from 'openai';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { annKey, bobKey, startCompat, type RunningCompat } from './start-compat.ts';

let compat: RunningCompat;
beforeEach(async () => (compat = await startCompat()));
afterEach(() => compat.stop());

const hello = [{ role: 'user' as const, content: 'hello there' }];

/** The session that a caller reaches by a name of its choice, or by its first message. */
async function sessionOf(apiKey: string, name?: string): Promise<string> {
  const client = new OpenAI({ baseURL: `${compat.url}/v1`, apiKey, maxRetries: 0 });
  const headers = name === undefined ? {} : { 'X-Session-Key': name };
  await client.chat.completions.create({ model: 'svc', messages: hello }, { headers });
  return compat.core.turns.at(-1)?.envelope.conversation_key ?? '';
}

test('[L12] a caller cannot reach the session of another by the same text, the same name or its key', async () => {
  const [ann, annNotes] = [await sessionOf(annKey), await sessionOf(annKey, 'notes')];
  const reached = [
    await sessionOf(bobKey),
    await sessionOf(bobKey, 'notes'),
    await sessionOf(bobKey, ann),
    await sessionOf(bobKey, annNotes),
    await sessionOf(bobKey, annNotes.split(':').at(-1)),
  ];
  expect(reached.filter((key) => key === ann || key === annNotes)).toEqual([]);
  expect(await sessionOf(annKey, 'notes')).toBe(annNotes);
  expect(compat.core.turns.map(({ envelope }) => envelope.sender.raw_id)).toEqual([
    'ann',
    'ann',
    'bob',
    'bob',
    'bob',
    'bob',
    'bob',
    'ann',
  ]);
});
