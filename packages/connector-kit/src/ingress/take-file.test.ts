import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { unavailable, upstream } from '@svc/service-kit/service-error.ts';
import { expect, test } from 'vitest';
import { createFakeUploads, type SavedFile } from '../testing/fake-uploads.ts';
import { createTakeFile, type FileOrigin, type IncomingFile } from './take-file.ts';

const clip: IncomingFile = { kind: 'spoken', what: 'Voice message', name: 'a.ogg', seconds: 4 };
const file: IncomingFile = { kind: 'file', what: 'File', name: 'a.txt' };
const never = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(unavailable('aborted'))));

function setUp(open: () => Promise<AsyncIterable<Uint8Array>>) {
  const clock = createFakeClock();
  const saved: SavedFile[] = [];
  const end = new AbortController();
  const speech = {
    speak: () => Promise.reject(new Error('unused')),
    transcribe: (_: unknown, signal: AbortSignal) => never(signal),
  };
  const take = createTakeFile<IncomingFile>({
    uploads: createFakeUploads(saved),
    speech,
    open,
    clock,
    maxBytes: 1000,
    log: () => undefined,
  });
  const origin = (message: string): FileOrigin => ({ conversationKey: 'k', sender: 'ann', message, signal: end.signal });
  return { clock, saved, end, take, origin };
}

async function* bytes(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('abc');
}

test('clips are passed on as files when their speech is not heard in time, also those that wait for others', async () => {
  const { clock, saved, take, origin } = setUp(async () => bytes());
  const taken = Promise.all(['1', '2', '3'].map((message) => take(clip, origin(message))));
  await expect.poll(() => (clock.advance(1000), saved.length), { interval: 1 }).toBe(3);
  for (const { words, attachment } of await taken)
    expect([words, attachment?.name]).toEqual(['[Voice message, 4 s; it could not be transcribed: it took too long]', 'a.ogg']);
});

test('a file that does not arrive in the time of its message is only named', async () => {
  const { end, take, origin } = setUp(() => new Promise(() => undefined));
  const taken = take(file, origin('1'));
  end.abort(upstream('it took too long'));
  expect(await taken).toEqual({ words: '[Sent file: File "a.txt": not accepted, because it took too long]' });
});

test('a file is not given up when the connector stops, or for what may pass', async () => {
  const { end, take, origin } = setUp(() => new Promise(() => undefined));
  const taken = take(file, origin('1'));
  end.abort();
  await expect(taken).rejects.toThrow('aborted');
  await expect(setUp(() => Promise.reject(unavailable('later'))).take(file, origin('1'))).rejects.toThrow('later');
});

test('a message whose files cannot be fetched is passed on without them, before it would be given up', async () => {
  const { clock, take, origin } = setUp(() => Promise.reject(unavailable('the server does not answer')));
  const failuresOf = async (message: string, everyMs: number): Promise<number> => {
    let failures = 0;
    const fails = () =>
      take(file, origin(message)).then(
        () => false,
        () => true,
      );
    while (failures < 100 && (await fails())) {
      failures++;
      clock.advance(everyMs);
    }
    return failures;
  };
  expect([await failuresOf('1', 100), await failuresOf('2', 60_000)]).toEqual([45, 4]);
  expect((await take(clip, origin('1'))).words).toBe(
    '[Sent file: Voice message "a.ogg": not accepted, because the server does not answer]',
  );
});
