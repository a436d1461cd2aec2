import OpenAI from 'openai';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { annKey, bobKey, startCompat, type RunningCompat } from './start-compat.ts';

let compat: RunningCompat;
beforeEach(async () => (compat = await startCompat()));
afterEach(() => compat.stop());

const hello = [{ role: 'user' as const, content: 'hello there' }];

/** The session that a caller gets to by a name of its choice, or by what it says first. */
async function sessionOf(apiKey: string, name?: string): Promise<string> {
  const client = new OpenAI({ baseURL: `${compat.url}/v1`, apiKey, maxRetries: 0 });
  const headers = name === undefined ? {} : { 'X-Session-Key': name };
  await client.chat.completions.create({ model: 'svc', messages: hello }, { headers });
  return compat.core.turns.at(-1)?.envelope.conversation_key ?? '';
}

test('[L12] no caller gets to the session of another, whether it says the same, gives the same name, or names the very key', async () => {
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
