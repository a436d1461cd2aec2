import { writeFileSync } from 'node:fs';
import path from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { signalProcess } from '@svc/service-kit/process/signal-process.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { openHouse, waitFor, type House } from '@svc/testing/house.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';

type Session = { conversation_key: string; turns: number; state: string };

/** What a client of a house can do and see, without automatic retries. */
function clientOf(house: House) {
  const client = new OpenAI({ baseURL: `${house.urls.compat}/v1`, apiKey: house.key(), maxRetries: 0, timeout: 40_000 });
  const messagesOf = (content: string) => [{ role: 'user' as const, content }];
  return {
    async ask(content: string, key?: string): Promise<string | null | undefined> {
      const headers = key === undefined ? {} : { 'Idempotency-Key': key };
      const reply = await client.chat.completions.create({ model: 'svc', messages: messagesOf(content) }, { headers });
      return reply.choices[0]?.message.content;
    },
    /** The pieces of a streamed reply as they come. */
    async *stream(content: string): AsyncGenerator<string> {
      const chunks = await client.chat.completions.create({ model: 'svc', stream: true, messages: messagesOf(content) });
      for await (const chunk of chunks) yield chunk.choices[0]?.delta.content ?? '';
    },
  };
}

const health = (house: House) => house.get<{ active: number; waiting: number }>(`${house.urls.core}/health`);
const isIdle = async (house: House) => {
  const { active, waiting } = await health(house);
  return active + waiting === 0;
};
const runs = (house: House) =>
  waitFor(
    async () => (await health(house)).active > 0,
    5000,
    () => 'no turn runs',
  );

/** The one session that is not in `known`, as its own routes show it. */
async function newSession(house: House, known: ReadonlySet<string>): Promise<Session & { said: string[] }> {
  const fresh = (await sessions(house)).filter(({ conversation_key: key }) => !known.has(key));
  expect(fresh).toHaveLength(1);
  const address = `${house.urls.core}/v2/session/${encodeURIComponent(fresh[0]?.conversation_key ?? '')}`;
  const { messages } = await house.get<{ messages: { text: string }[] }>(`${address}/history`);
  return { ...(await house.get<Session>(address)), said: messages.map(({ text }) => text) };
}

const sessions = async (house: House) => (await house.get<{ sessions: Session[] }>(`${house.urls.core}/v2/sessions`)).sessions;

let folder: TemporaryFolder;
let house: House;
let client: ReturnType<typeof clientOf>;
beforeAll(async () => {
  folder = temporaryFolder();
  const script = path.join(folder.path, 'script.mjs');
  writeFileSync(script, speaker);
  house = await openHouse({ env: { SVC_OFFLINE_SCRIPT: script } });
  client = clientOf(house);
});
afterAll(async () => {
  await house.stop();
  folder.remove();
});

describe('a client of the chat-completions API', () => {
  let known: Set<string>;
  beforeEach(async () => {
    known = new Set((await sessions(house)).map(({ conversation_key: key }) => key));
  });

  test.each(['SIGKILL', 'SIGTERM'] as const)('gets its answer although the core receives a %s', async (signal) => {
    const before = house.pidOf('core');
    const answer = client.ask(`wait 3 hello ${signal}`);
    await runs(house);
    signalProcess(before, signal);
    await expect(answer).resolves.toBe(`hello ${signal}`);
    expect(house.pidOf('core')).not.toBe(before);
    const said = [`wait 3 hello ${signal}`, `hello ${signal}`];
    expect(await newSession(house, known)).toMatchObject({ said, state: 'idle' });
    expect(await isIdle(house)).toBe(true);
  });

  test('gets one answer from one turn when it repeats an Idempotency-Key, at the same time or later', async () => {
    const both = [client.ask('wait 0.5 one', 'order-7'), client.ask('wait 0.5 one', 'order-7')];
    expect(await Promise.all(both)).toEqual(['one', 'one']);
    expect(await client.ask('wait 0.5 one', 'order-7')).toBe('one');
    expect(await newSession(house, known)).toMatchObject({ turns: 1 });
  });

  test('may reuse an Idempotency-Key in another conversation', async () => {
    expect(await client.ask('echo first', 'order-8')).toBe('first');
    expect(await client.ask('echo second', 'order-8')).toBe('second');
    expect(await sessions(house)).toHaveLength(known.size + 2);
  });

  test('gets the answer of the same turn by asking again after the connector was killed', async () => {
    const lost = client.ask('wait 1.5 kept', 'order-9').catch((error: unknown) => error);
    await runs(house);
    const before = await house.compatPid();
    signalProcess(before, 'SIGKILL');
    expect(await lost).toBeInstanceOf(OpenAI.APIConnectionError);
    await waitFor(
      () => isIdle(house),
      10_000,
      () => 'a turn is left',
    );
    await expect.poll(() => client.ask('wait 1.5 kept', 'order-9').catch(String)).toBe('kept');
    expect(await newSession(house, known)).toMatchObject({ turns: 1, state: 'idle' });
  });
});

describe('a reader of a stream', () => {
  /** Reads a reply; the core is killed at its first word. */
  async function readOverKill(text: string): Promise<{ read: string; error: unknown }> {
    let read = '';
    let isKilled = false;
    try {
      for await (const piece of client.stream(text)) {
        read += piece;
        if (read === '' || isKilled) continue;
        isKilled = true;
        signalProcess(house.pidOf('core'), 'SIGKILL');
      }
      return { read, error: null };
    } catch (error) {
      return { read, error };
    }
  }

  test('gets the rest of the text when the core is killed', async () => {
    expect(await readOverKill('say one two three four')).toEqual({ read: 'one two three four ', error: null });
    expect(await isIdle(house)).toBe(true);
  });

  test('gets an error that says how to get the new answer if it differs after the core was killed', async () => {
    const { read, error } = await readOverKill('name');
    expect(read).toMatch(/^[a-j]+ $/);
    expect(error).toMatchObject({ code: 'stream_interrupted' });
    const key = /"(msg_[^"]+)"/.exec((error as Error).message)?.[1];
    const reply = await client.ask('name', key);
    expect(reply).toMatch(/^[a-j]+ done $/);
    expect(reply).not.toContain(read);
  });
});

/**
 * The offline engine, which also says a word every 300 ms: those of the message (`say`); or a name that is unique to its process, and much later
 * `done` (`name`). The name has no digits: what could be the beginning of a card's number is held back until more has come.
 */
const speaker = `
import { setTimeout as sleep } from 'node:timers/promises';
import { findCommand } from ${JSON.stringify(path.join(repositoryRoot, 'engines/offline/src/commands.ts'))};
export async function* respond(request, signal) {
  const { text } = request;
  if (!/^(?:say |name)/.test(text)) return yield* findCommand(text)(request, signal);
  const isGiven = text.startsWith('say ');
  const words = isGiven ? text.slice(4).split(' ') : [String(process.pid).replace(/\\d/g, (digit) => 'abcdefghij'[digit]), 'done'];
  let said = '';
  for (const word of words) {
    said += word + ' ';
    yield { type: 'delta', text: word + ' ' };
    await sleep(isGiven || word === 'done' ? 300 : 4000, undefined, { signal });
  }
  yield { type: 'segment', text: said };
  yield { type: 'done' };
}
`;
