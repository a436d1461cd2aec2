import { afterEach, beforeEach } from 'vitest';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { PendingIdentity } from '@svc/contract/pairing.ts';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import { envelope } from './open-test-core.ts';
import type { TestTrust } from './open-test-trust.ts';

type PairingCore = Pick<TestTrust, 'app' | 'close'> & { context: Pick<TestTrust['context'], 'pending'> };

let serial = 0;
/** A message of an unknown sender on the messenger, where pairing is on. */
export const from = (raw_id: string, over: Partial<Envelope> = {}): Envelope =>
  envelope('hello', {
    channel: 'messenger',
    conversation_key: `messenger:m1:user:${raw_id}`,
    message_id: `m${++serial}`,
    sender: { raw_id, raw_username: 'Anna K.' },
    intake: { pairing: true },
    ...over,
  });

/** The code that a text has, or nothing. */
export const codeIn = (text: string | null | undefined): string => /[A-Z2-9]{4}-[A-Z2-9]{4}/.exec(text ?? '')?.[0] ?? '';

/** A core at whose door people wait, new for each test of a file and with a clock that the test moves. */
export function openPairingBench<Core extends PairingCore>(open: (clock: FakeClock) => Promise<Core>) {
  let core: Core;
  let clock: FakeClock;
  beforeEach(async () => {
    clock = createFakeClock();
    core = await open(clock);
  });
  afterEach(() => core.close());

  const post = (url: string, payload: object) => core.app.inject({ method: 'POST', url, payload });
  const waiting = async () => (await core.app.inject('/trust/pending')).json().pending as PendingIdentity[];

  return {
    get core() {
      return core;
    },
    get clock() {
      return clock;
    },
    post,
    pair: (payload: object) => post('/trust/pair', payload),
    waiting,
    first: async () => (await waiting())[0] as PendingIdentity,
    remove: (url: string) => core.app.inject({ method: 'DELETE', url }),
    /** Records an unknown sender, whatever the answer says, and gives their code. */
    note: (raw_id: string, over: Partial<Envelope> = {}): string =>
      codeIn(core.context.pending.note(from(raw_id, over), { denial: 'unknown_sender' })),
  };
}
